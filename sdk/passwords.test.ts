import test from 'ava'
import { Invalid, Unavailable } from 'pounce/sdk'
import { Passwords } from 'pounce/sdk/kit'
import { timingDifference } from 'pounce/sdk/testing'
import { recommendedCost } from '../test/support/cheap-passwords.ts'

const cheap = { memoryKiB: 64, passes: 1, lanes: 1 }

test('a password matches its own hash and no other', async t => {
  const passwords = new Passwords(cheap)
  const hash = await passwords.hash('correct horse')
  t.regex(hash, /^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  t.true(await passwords.verify('correct horse', hash))
  for (const wrong of ['correct horse ', 'Correct horse', '', 'correct hors', 'correct horse\u0000'])
    t.false(await passwords.verify(wrong, hash))
  t.not(await passwords.hash('correct horse'), hash)
})

test('a hash with a different cost is verified with that cost', async t => {
  const hash = await new Passwords({ memoryKiB: 128, passes: 2, lanes: 1 }).hash('correct horse')
  t.true(await new Passwords(cheap).verify('correct horse', hash))
})

test('the hash has the parameters of the recommended cost', async t => {
  t.regex(await new Passwords(recommendedCost).hash('correct horse'), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

test('composed and decomposed letters are the same password', async t => {
  const passwords = new Passwords(cheap)
  t.true(await passwords.verify('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait')))
})

test('a password that is too short or too long is refused and never truncated', async t => {
  const passwords = new Passwords(cheap)
  for (const wrong of ['', 'seven77', 'x'.repeat(1001)]) await t.throwsAsync(passwords.hash(wrong), { instanceOf: Invalid })
  const longest = '😀'.repeat(1000)
  const hash = await passwords.hash(longest)
  t.true(await passwords.verify(longest, hash))
  t.false(await passwords.verify(`${longest}x`, hash))
  t.false(await passwords.verify('x'.repeat(10_000_000), hash))
})

test.serial('without a hash the result is false, after the same work', async t => {
  const passwords = new Passwords()
  const hash = await passwords.hash('correct horse')
  await passwords.verify('correct horse', undefined)
  const refused = async (given: string | null) => t.false(await passwords.verify('a wrong one', given))
  t.is(await timingDifference({ unknown: () => refused(null), wrong: () => refused(hash) }), undefined)
})

test('a hash in another format is an error, not false', async t => {
  for (const hash of ['', 'plain', '$2a$10$abcdefghijklmnopqrstuv', '$argon2id$v=19$m=64,t=1,p=1$c2FsdA'])
    await t.throwsAsync(new Passwords(cheap).verify('correct horse', hash), { message: /PHC/ })
})

test('when too many calls wait, further ones are refused and the others are served', async t => {
  const passwords = new Passwords(cheap)
  const hash = await passwords.hash('correct horse')
  const outcomes = await Promise.allSettled(Array.from({ length: 150 }, () => passwords.verify('correct horse', hash)))
  const refused = outcomes.filter(outcome => outcome.status === 'rejected')
  t.is(refused.length, 49)
  for (const { reason } of refused) t.true(reason instanceof Unavailable)
  t.true(await passwords.verify('correct horse', hash))
})

test('hashing leaves the event loop free', async t => {
  const passwords = new Passwords()
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 1)
  await Promise.all(Array.from({ length: 6 }, () => passwords.hash('correct horse')))
  clearInterval(counting)
  t.true(turns >= 3, String(turns))
})
