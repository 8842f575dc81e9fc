import type { FeedLine, FeedThing } from 'pounce/sdk'
import { deedOf } from './deeds.ts'
import type { Every } from './digest-record.ts'

/** A line of text at most; names can be long and hold anything. */
const oneLine = (text: string, most = 200): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  return plain.length > most ? `${plain.slice(0, most)}…` : plain
}

const pages: Readonly<Record<string, string>> = {
  space: 'spaces',
  collection: 'collections',
  dataset: 'datasets',
  file: 'files',
  user: 'users',
}

const minute = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)}`

const pageOf = (baseUrl: string, { type, object, source }: FeedLine): string => {
  const shown: FeedThing | null = object && object.kind in pages ? object : source
  const page = shown && pages[shown.kind]
  return page && !type.startsWith('delete_') ? `\n    ${baseUrl}/${page}/${shown.id}` : ''
}

/** The mail that tells of what happened. */
export const digestMail = (
  { lines, isCut }: { readonly lines: readonly FeedLine[]; readonly isCut: boolean },
  { displayName, every, baseUrl }: { readonly displayName: string; readonly every: Every; readonly baseUrl: string },
): { readonly subject: string; readonly text: string } => {
  const place = oneLine(displayName, 100)
  const count = `${isCut ? 'more than ' : ''}${lines.length}`
  const news = lines.map(
    line => `${minute(line.at)}  ${oneLine(line.who) || 'Somebody'} ${oneLine(deedOf(line), 500)}${pageOf(baseUrl, line)}`,
  )
  const text = [
    `What happened at ${place} to what you follow (times in UTC):`,
    news.join('\n\n'),
    ...(isCut ? [`There is more: ${baseUrl}/`] : []),
    `--\nYou get this at most once ${every === 'hourly' ? 'an hour' : 'a day'}, and only when something happened. How often, or not at all, is what \`notifications\` of your profile says: ${baseUrl}/`,
  ]
  return { subject: `[${place}] ${count} ${lines.length === 1 && !isCut ? 'thing' : 'things'} happened`, text: `${text.join('\n\n')}\n` }
}
