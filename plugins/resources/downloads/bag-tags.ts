import { fullNameOf } from 'pounce/sdk'
import type { BagSubject } from './bag-documents.ts'

const inOneLine = (text: string): string => text.replace(/[\s\u0085\u2028\u2029]+/g, ' ').trim()

const units = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB']

/** Such as `1.5 GB`, in powers of 1,000. */
export const humanSize = (bytes: number): string => {
  let size = bytes
  let unit = 0
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}

/** BagIt 0.97, as v1 says: later versions ask for `%` to be written as `%25` in manifests, which widespread validators do not read. */
export const bagitTxt = 'BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n'

/** What a bag says of itself. */
export interface BagFacts {
  readonly agent: string
  /** `2026-11-21`. */
  readonly day: string
  readonly payloadBytes: number
  readonly payloadFiles: number
}

export const bagInfoTxt = ({ record, author, showsEmails }: BagSubject, { agent, day, payloadBytes, payloadFiles }: BagFacts): string => {
  const facts: readonly (readonly [string, string])[] = [
    ['Bag-Software-Agent', agent],
    ['Bagging-Date', day],
    ['Bag-Size', humanSize(payloadBytes)],
    ['Payload-Oxum', `${payloadBytes}.${payloadFiles}`],
    ['External-Identifier', record.name],
    ['Internal-Sender-Identifier', record.id],
    ['Internal-Sender-Description', record.description],
    ['Contact-Name', author ? fullNameOf(author) : ''],
    ['Contact-Email', author && showsEmails ? author.email : ''],
  ]
  return facts
    .map(([label, value]) => [label, inOneLine(value)])
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `${label}: ${value}\n`)
    .join('')
}
