#!/usr/bin/env python3
"""Checks the dependency graph against deny.toml: bans, licences and sources, with nothing but cargo and Python.

cargo-deny reads the same file and checks more, but takes minutes to build; this is the part that gates every change.
"""

import collections
import json
import re
import subprocess
import sys
import tomllib

CRATES_IO = 'registry+https://github.com/rust-lang/crates.io-index'


def packages(targets):
    """Every package of the graph on these targets, with all features."""
    found = {}
    for target in targets:
        command = ['cargo', 'metadata', '--format-version', '1', '--locked', '--all-features', '--filter-platform', target]
        metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        resolved = {node['id'] for node in metadata['resolve']['nodes']}
        found |= {package['id']: package for package in metadata['packages'] if package['id'] in resolved}
    return sorted(found.values(), key=lambda package: (package['name'], package['version']))


def banned(found, rules):
    """Crates that must not be there, and second copies of those that may be there once."""
    versions = collections.defaultdict(set)
    for package in found:
        versions[package['name']].add(package['version'])
    for rule in rules['deny']:
        name, reason = rule['crate'], rule['reason']
        there = sorted(versions.get(name, ()))
        if rule.get('deny-multiple-versions'):
            if len(there) > 1:
                yield f'{name} is there in {len(there)} versions, {", ".join(there)}: {reason}'
        elif there:
            yield f'{name} {there[0]} is banned: {reason}'


def allowed(expression, allow):
    """Whether an SPDX expression can be met with the allowed licences alone."""
    tokens = re.findall(r'\(|\)|[^\s()/]+|/', expression)

    def either():
        met = both()
        while tokens and tokens[0] in ('OR', '/'):
            tokens.pop(0)
            met = both() or met
        return met

    def both():
        met = one()
        while tokens and tokens[0] == 'AND':
            tokens.pop(0)
            met = one() and met
        return met

    def one():
        token = tokens.pop(0)
        if token == '(':
            met = either()
            tokens.pop(0)
            return met
        if tokens and tokens[0] == 'WITH':
            token = f'{token} WITH {tokens[1]}'
            del tokens[:2]
        return token in allow

    return either()


def unlicensed(found, rules):
    for package in found:
        if package['source'] is None and package['publish'] == [] and rules['private']['ignore']:
            continue
        if not package['license']:
            yield f'{package["name"]} {package["version"]} states no licence'
        elif not allowed(package['license'], rules['allow']):
            yield f'{package["name"]} {package["version"]} is under {package["license"]}, which is not allowed'


def unsourced(found):
    for package in found:
        if package['source'] not in (None, CRATES_IO):
            yield f'{package["name"]} {package["version"]} comes from {package["source"]}'


def wildcards(found):
    for package in found:
        for dependency in package['dependencies']:
            if package['source'] is None and dependency['req'] == '*' and not dependency.get('path'):
                yield f'{package["name"]} takes any version of {dependency["name"]}: name one'


def main():
    with open('deny.toml', 'rb') as file:
        rules = tomllib.load(file)
    found = packages(rules['graph']['targets'])
    groups = {
        'bans': [*banned(found, rules['bans']), *wildcards(found)],
        'licences': [*unlicensed(found, rules['licenses'])],
        'sources': [*unsourced(found)],
    }
    for name, problems in groups.items():
        print(f'{"not ok" if problems else "ok"} - {name} of {len(found)} packages')
        for problem in problems:
            print(f'  {problem}')
    failed = sum(1 for problems in groups.values() if problems)
    print(f'{len(groups) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
