import test from 'ava'
import { keptAddress, networkOf } from './kept-address.ts'

test('a network is the first 24 bits of IPv4 and the first 48 of IPv6, in any spelling', t => {
  t.is(networkOf('192.0.2.77'), '192.0.2.0/24')
  t.is(networkOf('::ffff:192.0.2.77'), '192.0.2.0/24')
  t.is(networkOf('2001:0DB8:0001:0002::7'), '2001:db8:1::/48')
  t.is(networkOf('2001:db8::7'), '2001:db8:0::/48')
  t.is(networkOf('::1'), '0:0:0::/48')
  t.is(networkOf('fe80::1%eth0'), 'fe80:0:0::/48')
})

test('what is no address is not kept', t => {
  for (const text of ['', 'unknown', 'a password', '192.0.2', '192.0.2.77:80']) t.is(networkOf(text), null)
  t.is(keptAddress(undefined, 'whole'), null)
  t.is(keptAddress('192.0.2.77', 'whole'), '192.0.2.77')
  t.is(keptAddress('a forwarded text', 'whole'), null)
  t.is(keptAddress('192.0.2.77', 'none'), null)
})
