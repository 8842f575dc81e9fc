import test from 'ava'
import type { FeedLine } from 'pounce/sdk/kit'
import { activitySentence } from './activity-sentences.ts'
import { digestMail } from './send-digest.ts'

const place = { displayName: 'Field\r\nStation', every: 'daily', baseUrl: 'https://data.example.org' } as const
const line = (more: Partial<FeedLine> = {}): FeedLine => ({
  id: 'a',
  at: '2026-01-05T10:07:00.000Z',
  type: 'create_dataset',
  user: 'u1',
  who: 'Ann Lovelace',
  object: { kind: 'dataset', id: 'd1', name: 'Leaves' },
  source: null,
  ...more,
})

test('an email has time, actor, action and link, and explains how to unsubscribe', t => {
  const { subject, text } = digestMail({ lines: [line()], isCut: false }, place)
  t.is(subject, '[Field Station] 1 new event')
  t.true(text.includes('2026-01-05 10:07  Ann Lovelace created the dataset Leaves\n    https://data.example.org/datasets/d1\n'))
  t.true(text.includes('at most once a day'))
  t.true(text.trimEnd().endsWith('`notifications` in your profile: https://data.example.org/'))
})

test('names cannot inject lines, and long names are truncated', t => {
  const object = { kind: 'dataset', id: 'd1', name: `x\r\n\u2028\u202eBcc: eve@example.org ${'y'.repeat(5000)}` } as const
  const { text } = digestMail({ lines: [line({ object, who: 'Eve\n' })], isCut: false }, place)
  t.notRegex(text, /^Bcc/m)
  t.notRegex(text, /[\r\u2028\u202e]/)
  t.true(text.length < 1500)
})

test('deleted resources have no link, and deleted accounts no name', t => {
  const { text } = digestMail({ lines: [line({ type: 'delete_dataset', who: '' })], isCut: true }, place)
  t.true(text.includes('Someone deleted the dataset Leaves\n'))
  t.false(text.includes('/datasets/'))
  t.true(text.includes('More: https://data.example.org/'))
})

test('a comment links to its target', t => {
  const comment = line({
    type: 'comment_file',
    object: { kind: 'comment', id: 'c1', name: 'looks good' },
    source: { kind: 'file', id: 'f1', name: 'leaf.jpg' },
  })
  t.is(activitySentence(comment), 'commented on the file leaf.jpg')
  t.true(digestMail({ lines: [comment], isCut: false }, place).text.includes('https://data.example.org/files/f1'))
})

test('several added files are one line, and an unknown event type is printed in words', t => {
  t.is(activitySentence(line({ type: 'add_file_12' })), 'added 12 files to the dataset Leaves')
  t.is(activitySentence(line({ type: 'add_file_folder_3' })), 'added 3 files to the dataset Leaves')
  t.is(activitySentence(line({ type: 'bless_dataset' })), 'bless dataset the dataset Leaves')
  t.is(activitySentence(line({ type: 'tos_update', object: null })), 'updated the terms of service')
})
