#!/usr/bin/python3
"""operations/screens.py - pictures of what a person sees

  screens.py terminal PICTURE ROWSxCOLUMNS REDRAWS COMMAND...
      runs it on a terminal, until it has drawn its screen so often; then it is told "q"
  screens.py dashboard PICTURE FILE SCRAPE-SECONDS RANGE-SECONDS
      a Grafana dashboard: each panel's queries are asked of the Prometheus on this machine and
      drawn as the file says: place, kind, unit, legend. This is not Grafana; what it does
      not know (a kind of panel, a unit, an option) is an error, not left out.

Debian's python3, with python3-pyte, python3-pil and python3-matplotlib.
"""
import fcntl
import json
import math
import os
import pty
import re
import select
import struct
import sys
import termios
import time

from PIL import Image, ImageDraw, ImageFont

import prom

MONO = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf'
COLORS = 160  # of a picture: small files


def save(image, path):
    image.convert('RGB').quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


# ---- terminal ----

BACKGROUND, TEXT = '#1c1c1c', '#d8d8d8'
HOME = b'\x1b[H'


def color(name, default):
    if name == 'default':
        return default
    return '#' + name if re.fullmatch('[0-9a-f]{6}', name) else name


def draw_terminal(screen, path):
    size, margin = 15, 12
    plain, bold = (ImageFont.truetype(MONO % kind, size) for kind in ('', '-Bold'))
    width, height = round(plain.getlength('m')), size + 4
    image = Image.new('RGB', (screen.columns * width + 2 * margin,
                              screen.lines * height + 2 * margin), BACKGROUND)
    draw = ImageDraw.Draw(image)
    for y in range(screen.lines):
        for x in range(screen.columns):
            cell = screen.buffer[y][x]
            at = (margin + x * width, margin + y * height)
            front, back = color(cell.fg, TEXT), color(cell.bg, BACKGROUND)
            if cell.reverse:
                front, back = back, front
            draw.rectangle((*at, at[0] + width - 1, at[1] + height - 1), fill=back)
            draw.text(at, cell.data, fill=front, font=bold if cell.bold else plain)
    save(image, path)


def terminal(path, size, redraws, *command):
    import pyte

    rows, columns = map(int, size.split('x'))
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        os.environ['TERM'] = 'xterm'
        os.execv(command[0], command)
    seen, end = b'', time.monotonic() + 120
    while seen.count(HOME) <= int(redraws):
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit('it has not drawn its screen %s times within 120 s' % redraws)
        seen += os.read(fd, 65536)
    # Whole screens only: the last one may have just begun.
    stream.feed(seen[:seen.rindex(HOME)])
    os.write(fd, b'q')
    try:
        while os.read(fd, 65536):
            pass
    except OSError:  # the far end is gone
        pass
    if os.waitpid(pid, 0)[1]:
        sys.exit('%s: failed' % command[0])
    draw_terminal(screen, path)
    print('\n'.join(line.rstrip() for line in screen.display))


# ---- dashboard ----

def scaled(step, suffixes, decimals=3):
    def text(v):
        n = 0
        while abs(v) >= step and n + 1 < len(suffixes):
            v /= step
            n += 1
        return '%.*g%s' % (max(decimals, len('%d' % abs(v))), v, suffixes[n])
    return text


def seconds(v):
    if v and abs(v) < 1:
        for name, times in (('ms', 1e3), ('µs', 1e6), ('ns', 1e9)):
            if abs(v) * times >= 1:
                return '%.3g %s' % (v * times, name)
    return '%.3g s' % v if v < 60 else '%.3g min' % (v / 60) if v < 3600 else '%.3g h' % (v / 3600)


UNITS = {
    'none': lambda v: '%.10g' % v,
    'short': scaled(1000, ['', ' K', ' Mil', ' Bil']),
    'pps': scaled(1000, [' p/s', ' kp/s', ' Mp/s', ' Gp/s']),
    'bps': scaled(1000, [' b/s', ' kb/s', ' Mb/s', ' Gb/s']),
    'ops': scaled(1000, [' ops/s', ' kops/s', ' Mops/s']),
    'reqps': scaled(1000, [' req/s', ' kreq/s', ' Mreq/s']),
    'cps': scaled(1000, [' c/s', ' kc/s', ' Mc/s']),
    'bytes': scaled(1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB']),
    's': seconds,
    'percentunit': lambda v: '%.4g%%' % (100 * v),
}
# Members that are read here, and those that change nothing in a picture.
PANEL = {'type', 'title', 'gridPos', 'targets', 'fieldConfig', 'id', 'datasource', 'description'}
DEFAULTS = {'unit', 'min', 'max'}
POWERS_OF_2 = {'bytes'}
PALETTE = ['#56a64b', '#e0b400', '#3f9fb8', '#e0752d', '#c4162a', '#1f60c4', '#a352cc', '#705da0',
           '#37872d', '#8f7b00']
CELL, GAP, WIDTH = 32, 6, 1400  # pixels: a row of the grid, between panels, all


class Range:
    """What Grafana makes of "$__rate_interval" when a panel is as wide as it has points."""

    def __init__(self, scrape, length):
        self.end = time.time()
        self.start = self.end - length
        self.step = max(scrape, length // 300)
        self.rate = max(self.step + scrape, 4 * scrape)

    def fill(self, expression):
        return (expression.replace('$__rate_interval', '%ds' % self.rate)
                .replace('$instance', '.*').replace('$port', '.*'))


def legend(form, labels):
    if not form:
        return '{%s}' % ', '.join('%s="%s"' % pair for pair in sorted(labels.items())
                                  if pair[0] != '__name__')
    return re.sub(r'{{ *(\w+) *}}', lambda m: labels.get(m.group(1), ''), form)


def series_of(panel, span):
    for target in panel['targets']:
        answer = prom.ask('query_range', query=span.fill(target['expr']), start=span.start,
                          end=span.end, step=span.step)
        for row in answer['result']:
            points = [(float(t), float(v)) for t, v in row['values'] if v != 'NaN']
            if points:
                yield legend(target.get('legendFormat'), row['metric']), points


def draw_stat(axes, series, unit, _span):
    axes.axis('off')
    for n, (name, points) in enumerate(series):
        x = (n + 0.5) / len(series)
        axes.text(x, 0.52, unit(points[-1][1]), ha='center', va='center', fontsize=19,
                  color=PALETTE[0], transform=axes.transAxes)
        axes.text(x, 0.12, name, ha='center', va='center', fontsize=8, color='#555',
                  transform=axes.transAxes)


def draw_bargauge(axes, series, unit, _span):
    values = [points[-1][1] for _, points in series]
    most = max(values) or 1
    for n, ((name, _), value) in enumerate(zip(series, values)):
        axes.barh(n, most, height=0.7, color='#eee')
        axes.barh(n, value, height=0.7, color=PALETTE[0])
        axes.text(-0.02 * most, n, name, ha='right', va='center', fontsize=8, color='#222')
        axes.text(1.02 * most, n, unit(value), va='center', fontsize=8, color='#222')
    axes.set(xlim=(-0.2 * most, 1.12 * most), ylim=(len(series) - 0.4, -0.6))
    axes.axis('off')


def draw_timeseries(axes, series, unit, span):
    from matplotlib.dates import AutoDateLocator, DateFormatter, date2num
    from datetime import datetime, timezone

    # What moves before what does not: the legend has room for so many.
    series.sort(key=lambda one: all(v == 0 for _, v in one[1]))
    for n, (name, points) in enumerate(series):
        times = [date2num(datetime.fromtimestamp(t, timezone.utc)) for t, _ in points]
        axes.plot(times, [v for _, v in points], lw=1.3, color=PALETTE[n % len(PALETTE)],
                  label=name, zorder=len(series) - n + 2)
    axes.set_xlim(*(date2num(datetime.fromtimestamp(t, timezone.utc))
                    for t in (span.start, span.end)))
    axes.xaxis.set_major_formatter(DateFormatter('%H:%M:%S'))
    axes.yaxis.set_major_formatter(lambda v, _: unit(v))
    axes.xaxis.set_major_locator(AutoDateLocator(maxticks=8))
    axes.locator_params(axis='y', nbins=5)
    axes.grid(color='#e4e4e4', lw=0.6)
    axes.tick_params(labelsize=7.5, length=0, colors='#444')
    for side in axes.spines.values():
        side.set_visible(False)
    shown = 8
    lines, names = axes.get_legend_handles_labels()
    if len(names) > shown:
        lines = lines[:shown]
        names = names[:shown - 1] + ['%s and %d more' % (names[shown - 1], len(names) - shown)]
    axes.legend(lines, names, loc='upper left', bbox_to_anchor=(-0.09, -0.1), ncol=4,
                fontsize=7.5, frameon=False, handlelength=1.2, columnspacing=1.2,
                labelspacing=0.3, borderaxespad=0.2)


KINDS = {'stat': draw_stat, 'bargauge': draw_bargauge, 'timeseries': draw_timeseries}


def unknown(panel):
    config = panel.get('fieldConfig', {})
    yield from set(panel) - PANEL
    yield from set(config.get('defaults', {})) - DEFAULTS
    if config.get('overrides'):
        yield 'overrides'
    if panel['type'] not in KINDS:
        yield panel['type']
    if config.get('defaults', {}).get('unit', 'none') not in UNITS:
        yield config['defaults']['unit']


def place(figure, grid, height):
    """Where axes go, in parts of the whole: the panel's own frame, and what is in it."""
    x0, y0 = grid['x'] * WIDTH / 24 + GAP, grid['y'] * CELL + GAP
    x1, y1 = (grid['x'] + grid['w']) * WIDTH / 24, (grid['y'] + grid['h']) * CELL
    frame = figure.add_axes((x0 / WIDTH, 1 - y1 / height, (x1 - x0) / WIDTH, (y1 - y0) / height))
    frame.set(xticks=[], yticks=[], facecolor='white')
    for side in frame.spines.values():
        side.set(color='#d5d5d5', lw=0.8)
    return frame


def draw_panel(figure, panel, span, height):
    grid, frame = panel['gridPos'], place(figure, panel['gridPos'], height)
    defaults = panel.get('fieldConfig', {}).get('defaults', {})
    series = list(series_of(panel, span))
    pixels = grid['h'] * CELL - GAP
    frame.text(0.012, 1 - 8 / pixels, panel['title'], fontsize=9.5, fontweight='bold', va='top',
               color='#222', transform=frame.transAxes)
    if not series:
        frame.text(0.5, 0.5, 'No data', fontsize=11, ha='center', va='center', color='#888',
                   transform=frame.transAxes)
        return False
    chart = panel['type'] == 'timeseries'
    low, high = (54 / pixels, 1 - 34 / pixels) if chart else (0.06, 1 - 24 / pixels)
    left, right = (0.095, 0.985) if chart else (0.02, 0.98)
    axes = frame.inset_axes((left, low, right - left, high - low))
    KINDS[panel['type']](axes, series, UNITS[defaults.get('unit', 'none')], span)
    if chart:
        top = max([v for _, points in series for _, v in points]) or 1
        if defaults.get('unit') in POWERS_OF_2:
            step = 2 ** math.ceil(math.log2(top / 5))
            axes.set_yticks([step * n for n in range(6)])
        axes.set_ylim(defaults.get('min'), defaults.get('max', 1.08 * top))
    return True


def is_not_here(panel):
    """The modelled card has no driver, and not its counters."""
    return all(prom.NOT_HERE.search(t['expr']) for t in panel['targets'])


def dashboard(path, file, scrape, length):
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib.figure import Figure

    with open(file, encoding='utf-8') as text:
        panels = json.load(text)['panels']
    for panel in panels:
        for what in unknown(panel):
            sys.exit('panel "%s": %s: not known here' % (panel['title'], what))
    height = max(p['gridPos']['y'] + p['gridPos']['h'] for p in panels) * CELL + GAP
    figure = Figure((WIDTH / 100, height / 100), dpi=100, facecolor='#f4f5f5')
    span = Range(int(scrape), int(length))
    for panel in panels:
        if draw_panel(figure, panel, span, height) == is_not_here(panel):
            sys.exit('panel "%s": data, or none, and that is not as expected' % panel['title'])
    figure.savefig(path)
    save(Image.open(path), path)
    print('%d panels' % len(panels))


if __name__ == '__main__':
    {'terminal': terminal, 'dashboard': dashboard}[sys.argv[1]](*sys.argv[2:])
