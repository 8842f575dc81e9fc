import { isUtf8 } from 'node:buffer'
import { defaultJsonLimits, isSuccessStatus, type JobStatus, parseCounted } from 'pounce/sdk/kit'
import { maskKeys } from './mask-keys.ts'

const maxCharacters = 10_000
/** pyclowder puts the entire output of a failed program into its status, and that twice into the reply. */
const maxReplyBytes = 2 ** 24

/** What a status means for its job. `error`: the extractor has given up, and has put the message into its error queue. */
export type Meaning = 'done' | 'error' | 'under way'

export const meaningOf = (status: string): Meaning =>
  status === 'DONE' ? 'done' : status.includes('StatusMessage.error') ? 'error' : 'under way'

/** Parses a message from the reply queue, leniently (reference, extraction §3.1). Throws a description of what is wrong with it. */
export function readReply(content: Buffer, now: Date): JobStatus {
  if (content.length > maxReplyBytes) throw new Error(`it has ${content.length} bytes, more than ${maxReplyBytes}`)
  // A text that could not be stored must not lose an error: Python writes bytes that are not UTF-8, such as those of a file name, as
  // unpaired surrogates, and other clients may send ISO 8859-1. `statusOf` makes it storable.
  const body = parseCounted(isUtf8(content) ? content : content.toString('latin1'), { ...defaultJsonLimits, maxBytes: maxReplyBytes }, 'it')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('it is not a JSON object')
  const { file_id, extractor_id, status, job_id, start, user_id } = body as Readonly<Record<string, unknown>>
  if (!isName(file_id)) throw new Error('it has no file_id')
  if (!isName(extractor_id)) throw new Error('it has no extractor_id')
  if (typeof status !== 'string' || status === '') throw new Error('it has no status')
  return {
    targetId: file_id,
    extractor: extractor_id,
    status: statusOf(status),
    at: (typeof start === 'string' ? dateOf(start) : undefined) ?? now,
    ...(isName(job_id) && { jobId: job_id }),
    ...(isName(user_id) && { user: user_id }),
  }
}

/** Any string that can be the ID of a document. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 200 && value.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(value)

/** A text with "done" anywhere, in any case, becomes exactly `DONE` (reference, extraction §3.2). */
function statusOf(text: string): string {
  if (isSuccessStatus(text)) return 'DONE'
  // Not all of a text of megabytes: masking what is truncated anyway would block everything else.
  const beginning = text.slice(0, 2 * maxCharacters).replaceAll('\u0000', '')
  return maskKeys(beginning).slice(0, maxCharacters).toWellFormed()
}

const form = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s?(?:(Z|UTC)|([+-])(\d\d):?(\d\d)?)?$/i

/** pyclowder writes parts of an hour as decimals: `+05:50` is half past five. No zone has these minutes. */
const decimals: Readonly<Record<string, string>> = { 25: '15', 50: '30', 75: '45' }

/** ISO 8601 with a zone, including `-00:00`, `+01` and `-0600`; without a zone, in this server's time zone. Undefined when it is not a date. */
export function dateOf(text: string): Date | undefined {
  const [, day, time, utc, sign, hours, given = '00'] = form.exec(text.trim()) ?? []
  if (!day || !time) return undefined
  const minutes = decimals[given] ?? given
  const zone = utc ? 'Z' : sign ? `${sign === '-' && `${hours}${minutes}` === '0000' ? '+' : sign}${hours}:${minutes}` : ''
  const date = new Date(`${day}T${time.replace(',', '.')}${zone}`)
  return Number.isNaN(date.getTime()) ? undefined : date
}
