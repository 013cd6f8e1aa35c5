"""operations/prom.py - questions to a Prometheus on this machine

  prom.py query EXPRESSION      "value {labels}" a line; fails when there is no answer
"""
import json
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


if __name__ == '__main__':
    {'query': query}[sys.argv[1]](*sys.argv[2:])
