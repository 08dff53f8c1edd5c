"""The dependency gate refuses what it should: python3 -m unittest discover deploy/test"""

import unittest

from deny import allowed, banned, unlicensed, unsourced, wildcards

ALLOW = ['MIT', 'ISC', 'Apache-2.0 WITH LLVM-exception']


def package(name, version='1.0.0', **fields):
    return {'name': name, 'version': version, 'source': None, 'license': 'MIT', 'publish': None, 'dependencies': []} | fields


class Gate(unittest.TestCase):
    def test_an_expression_is_met_by_allowed_licences_alone(self):
        for expression in ['MIT', 'MIT OR GPL-3.0', 'GPL-3.0/MIT', '(MIT OR GPL-3.0) AND ISC', 'Apache-2.0 WITH LLVM-exception OR GPL-3.0']:
            self.assertTrue(allowed(expression, ALLOW), expression)
        for expression in ['GPL-3.0', 'MIT AND GPL-3.0', 'Apache-2.0', 'GPL-3.0 OR (MIT AND AGPL-3.0)']:
            self.assertFalse(allowed(expression, ALLOW), expression)

    def test_a_banned_crate_and_a_second_copy_are_named_with_the_reason(self):
        rules = {'deny': [{'crate': 'openssl', 'reason': 'no'}, {'crate': 'tonic', 'deny-multiple-versions': True, 'reason': 'one'}]}
        found = [package('openssl'), package('tonic'), package('tonic', '2.0.0')]
        self.assertEqual(
            list(banned(found, rules)),
            ['openssl 1.0.0 is banned: no', 'tonic is there in 2 versions, 1.0.0, 2.0.0: one'],
        )
        self.assertEqual(list(banned([package('tonic')], rules)), [])

    def test_a_package_without_a_licence_or_from_elsewhere_is_refused(self):
        rules = {'allow': ALLOW, 'private': {'ignore': True}}
        self.assertEqual(len(list(unlicensed([package('a', license=None), package('b', license='GPL-3.0')], rules))), 2)
        self.assertEqual(list(unlicensed([package('ours', license='GPL-3.0', publish=[])], rules)), [])
        self.assertEqual(len(list(unsourced([package('a', source='git+https://example.com/a')]))), 1)

    def test_any_version_of_a_dependency_is_refused_unless_it_is_ours(self):
        star, ours = {'name': 'a', 'req': '*'}, {'name': 'b', 'req': '*', 'path': 'services/b'}
        self.assertEqual(list(wildcards([package('p', dependencies=[star, ours])])), ['p takes any version of a: name one'])


if __name__ == '__main__':
    unittest.main()
