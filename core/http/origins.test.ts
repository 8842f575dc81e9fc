import test from 'ava'
import type { Log } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { crossOriginWarning } from './origins.ts'

const notesOf = (allowed: readonly string[], requests: readonly Record<string, string>[]): readonly string[] => {
  const lines: string[] = []
  const log: Log = { ...silent, warn: (message, about) => lines.push(`${message} ${JSON.stringify(about)}`) }
  const note = crossOriginWarning(allowed, () => 'https://data.example.org/dm', log)
  for (const headers of requests) note({ headers })
  return lines
}

const viewer = { origin: 'https://viewer.example.org', host: 'data.example.org', 'sec-fetch-site': 'cross-site' }

test('a blocked origin is logged once with the setting that allows it', t => {
  const lines = notesOf([], [viewer, viewer, { ...viewer, origin: 'null' }])
  t.is(lines.length, 2)
  t.regex(lines[0] ?? '', /http\.allowedOrigins.*https:\/\/viewer\.example\.org/)
})

test('allowed origins, pages of this server and other programs are not logged', t => {
  const own = [
    { origin: 'https://data.example.org', host: 'inside:9000' },
    { origin: 'http://inside:9000', host: 'inside:9000' },
    { origin: 'https://proxy.example.org', host: 'inside:9000', 'sec-fetch-site': 'same-origin' },
    { host: 'inside:9000' },
  ]
  t.deepEqual(notesOf([], own), [])
  t.deepEqual(notesOf(['https://viewer.example.org'], [viewer]), [])
  t.deepEqual(notesOf(['*'], [viewer]), [])
})

test('invented origins cannot flood the log', t => {
  const many = Array.from({ length: 500 }, (_, at) => ({ ...viewer, origin: `https://o${at}.example.org` }))
  t.is(notesOf([], many).length, 100)
  t.deepEqual(notesOf([], [{ ...viewer, origin: `https://${'o'.repeat(300)}.example.org` }]), [])
})
