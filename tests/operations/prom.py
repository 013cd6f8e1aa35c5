"""operations/prom.py - questions to a Prometheus on this machine

  prom.py query EXPRESSION   "value {labels}" a line; fails when there is no answer
  prom.py dashboard FILE     runs every query of a Grafana dashboard; fails when one has no answer,
                             but for counters of the card that the modelled one does not have
"""
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

BASE = 'http://127.0.0.1:9090/api/v1/'


def ask(what, **args):
    url = BASE + what + ('?' + urllib.parse.urlencode(args) if args else '')
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)['data']
    except urllib.error.HTTPError as error:
        sys.exit('%s: %s' % (args, error.read().decode()))
    except OSError as error:
        sys.exit('prometheus: %s' % error)


def query(expression):
    result = ask('query', query=expression)['result']
    if not result:
        sys.exit('%s: no answer' % expression)
    for row in result:
        print(row['value'][1], json.dumps(row['metric'], sort_keys=True))


# What Grafana puts in: all of it, and the least that a rate needs.
FILLED_IN = {'$__rate_interval': '1m', '$instance': '.*', '$port': '.*'}
NOT_HERE = re.compile('mlx5fwd_hw_(?!receive_out_of_buffer)')


def dashboard(path):
    with open(path, encoding='utf-8') as file:
        panels = json.load(file)['panels']
    queries = [(p['title'], t['expr']) for p in panels for t in p['targets']]
    bad = 0
    for title, expression in queries:
        for what, text in FILLED_IN.items():
            expression = expression.replace(what, text)
        rows = len(ask('query', query=expression)['result'])
        good = bool(rows) != bool(NOT_HERE.search(expression))
        bad += not good
        print('%s %s: %d rows: %s' % ('ok' if good else 'BAD', title, rows, expression))
    print('%d queries, %d without the answer they should have' % (len(queries), bad))
    if bad or not queries:
        sys.exit(1)


if __name__ == '__main__':
    {'query': query, 'dashboard': dashboard}[sys.argv[1]](*sys.argv[2:])
