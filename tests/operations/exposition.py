"""operations/exposition.py - fetches a page, and reads both text forms of metrics strictly

  exposition.py get ADDRESS PATH [METHOD [ACCEPT]]   status, headers and body as JSON
  exposition.py check FORM FILE                      FORM: text or openmetrics
  exposition.py value FORM FILE NAME [LABEL=VALUE]   sum of the samples that fit; no sample fails
  exposition.py same FILE FILE                       both forms say the same

ADDRESS is HOST:PORT, or the path of a Unix socket. Written from the formats' texts:
prometheus.io/docs/instrumenting/exposition_formats and OpenMetrics 1.0.0.
"""
import http.client
import json
import re
import socket
import sys
import time

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(r'(%s)(?:\{(%s(?:,%s)*)\})? (\S+)$' % (NAME, LABEL, LABEL))
NUMBER = re.compile(r'(?:[+-]?\d+(?:\.\d+)?(?:e[+-]\d+)?|[+-]Inf|NaN)$')
ENDS = {
    'text': {'counter': [''], 'gauge': [''], 'histogram': ['_bucket', '_sum', '_count']},
    'openmetrics': {'counter': ['_total'], 'gauge': [''], 'info': ['_info'],
                    'histogram': ['_bucket', '_sum', '_count']},
}


def need(good, line, why):
    if not good:
        sys.exit('exposition: %s: %s' % (why, line))


class Family:
    def __init__(self, name, help_text):
        self.name, self.help, self.type, self.unit = name, help_text, None, ''
        self.samples = {}       # (name, ((label, value), ...)) -> text of the number


def read_sample(family, form, line):
    match = SAMPLE.match(line)
    need(match, line, 'no sample')
    name, number = match.group(1), match.group(match.lastindex)
    labels = tuple(re.findall(LABEL, match.group(2) or ''))
    need(family and family.type, line, 'sample before its TYPE')
    need(name in [family.name + end for end in ENDS[form][family.type]], line,
         'sample of another family than %s' % family.name)
    need(NUMBER.match(number), line, 'no number')
    need(len({n for n, _ in labels}) == len(labels), line, 'a label twice')
    need((name, labels) not in family.samples, line, 'a series twice')
    if family.type == 'counter' or name.endswith(('_bucket', '_count')):
        need(float(number) >= 0, line, 'a counter below zero')
    family.samples[name, labels] = number


def read_comment(families, family, line):
    """The family that the next lines belong to."""
    match = re.match(r'# (HELP|TYPE|UNIT) (%s) (.*)$' % NAME, line)
    need(match, line, 'no comment that means something')
    what, name, text = match.groups()
    if what == 'HELP':
        need(name not in families, line, 'family in two pieces')
        need(text, line, 'no help')
        families[name] = Family(name, text)
        return families[name]
    need(family and family.name == name and not family.samples, line, 'out of place')
    if what == 'TYPE':
        need(family.type is None, line, 'second TYPE')
        family.type = text
    else:
        need(name.endswith('_' + text), line, 'unit is not the end of the name')
        family.unit = text
    return family


def check_histogram(family):
    series = {}
    for (name, labels), number in family.samples.items():
        rest = tuple(p for p in labels if p[0] != 'le')
        series.setdefault(rest, []).append((name[len(family.name):], dict(labels).get('le'),
                                            float(number)))
    for rest, samples in series.items():
        buckets = [(float(le), n) for end, le, n in samples if end == '_bucket']
        count = [n for end, _, n in samples if end == '_count']
        need(buckets == sorted(buckets) and len(dict(buckets)) == len(buckets), rest,
             'buckets out of order')
        need(all(a[1] <= b[1] for a, b in zip(buckets, buckets[1:])), rest, 'not cumulative')
        need(buckets[-1][0] == float('inf') and [buckets[-1][1]] == count, rest,
             '+Inf is not the count')
        need([end for end, _, _ in samples].count('_sum') == 1, rest, 'no sum')


def read(form, text):
    families, family = {}, None
    lines = text.split('\n')
    need(lines.pop() == '', text[-60:], 'no end of line at the end')
    if form == 'openmetrics':
        need(lines and lines.pop() == '# EOF', text[-60:], 'no # EOF at the end')
    for line in lines:
        if line.startswith('#'):
            need(line != '# EOF', line, '# EOF before the end')
            family = read_comment(families, family, line)
        else:
            read_sample(family, form, line)
    for family in families.values():
        need(family.type in ENDS[form], family.name, 'type %s' % family.type)
        need(family.samples, family.name, 'no sample')
        need(form != 'text' or (family.type == 'counter') == family.name.endswith('_total'),
             family.name, '_total is for counters')
        if family.type == 'histogram':
            check_histogram(family)
    return families


def samples_of(form, path):
    with open(path, encoding='utf-8', newline='') as file:
        families = read(form, file.read())
    return families, {key: n for f in families.values() for key, n in f.samples.items()}


class UnixConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def get(address, path, method='GET', accept=''):
    kind = UnixConnection if address.startswith('/') else http.client.HTTPConnection
    connection = kind(address, timeout=60)
    start = time.monotonic()
    connection.request(method, path, headers={'Accept': accept} if accept else {})
    answer = connection.getresponse()
    body = answer.read().decode('utf-8')
    print(json.dumps({'status': answer.status, 'seconds': time.monotonic() - start,
                      'type': answer.getheader('Content-Type', ''), 'body': body}))


def check(form, path):
    families, samples = samples_of(form, path)
    print('families %d samples %d' % (len(families), len(samples)))


def value(form, path, name, *labels):
    wanted = {tuple(l.split('=', 1)) for l in labels}
    fit = [n for (is_name, has), n in samples_of(form, path)[1].items()
           if is_name == name and wanted <= set(has)]
    need(fit, ' '.join((name,) + labels), 'no such sample')
    print(sum(int(n) if n.isdigit() else float(n) for n in fit))


def same(text, openmetrics):
    a, b = samples_of('text', text)[1], samples_of('openmetrics', openmetrics)[1]
    need(a.keys() == b.keys(), set(a) ^ set(b), 'in one form only')


if __name__ == '__main__':
    {'get': get, 'check': check, 'value': value, 'same': same}[sys.argv[1]](*sys.argv[2:])
