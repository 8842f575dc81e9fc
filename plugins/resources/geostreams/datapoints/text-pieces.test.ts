import test from 'ava'
import { TextPieces } from './text-pieces.ts'

const textOf = (fill: (to: TextPieces) => void): string => {
  const to = new TextPieces()
  fill(to)
  return Buffer.concat([...to.take(true)]).toString('utf8')
}

test('numbers are formatted as by String()', t => {
  const numbers = [
    0,
    -0,
    1,
    -1,
    9,
    10,
    99,
    100,
    -12_345,
    0.1,
    -2.5e-7,
    1e21,
    1e15,
    999_999_999_999_999,
    9_007_199_254_740_991,
    -9_007_199_254_740_991,
    2 ** 53,
  ]
  for (let n = 1; n < 2000; n += 1) numbers.push(Math.floor(n ** 4.7), n / 7, n / 1000, -n / 1e6, n / 1e7, n ** 4 + n / 64, 0.1 * n)
  for (const whole of [0, 7, 999_999_999, 1_000_000_000, 9_007_199_254]) numbers.push(whole + 0.000001, whole + 0.5, -whole - 0.999999)
  for (const number of numbers)
    t.is(
      textOf(to => to.addNumber(number)),
      String(number),
    )
})

test('times are formatted to the second, or to the millisecond if they have a fraction', t => {
  for (let n = 0; n < 3000; n += 1) {
    const ms = Math.floor((n - 1000) * 86_399_987.37) * (n % 2 === 0 ? 1000 : 1)
    if (Math.abs(ms) > 60e12) continue
    t.is(
      textOf(to => to.addTime(ms)),
      new Date(ms).toISOString().replace('.000Z', 'Z'),
    )
  }
})

test('strings of any characters and length are unchanged, even across chunk boundaries', t => {
  const texts = ['', 'plain', 'ünï', '€'.repeat(63), '🧪'.repeat(40), 'x'.repeat(70), 'long'.repeat(90_000), 'é'.repeat(50_000), '\0\r\n"']
  const all = Array.from({ length: 4000 }, (_, n) => texts[n % 5] ?? '')
  const filled = textOf(to => {
    for (const text of [...texts, ...all]) to.add(text)
  })
  t.is(filled, [...texts, ...all].join(''))
  const copied = textOf(to => {
    for (const text of all) to.addBytes(Buffer.from(text))
  })
  t.is(copied, all.join(''))
})

test('a short chunk is held back unless it is the last', t => {
  const to = new TextPieces()
  to.add('little')
  t.deepEqual(to.take(), [])
  to.add('x'.repeat(20_000))
  t.is(Buffer.concat([...to.take()]).length, 20_006)
  t.deepEqual(to.take(true), [])
})
