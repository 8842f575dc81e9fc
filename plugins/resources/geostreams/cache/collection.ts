import { collection, type Json, type Stored, type Time } from 'pounce/sdk'

/** An answer that is kept; its id is the key of its question. */
export interface AnswerRecord {
  readonly blob: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly filename: string | null
  /** What was asked, as it was sent. */
  readonly query: { readonly [name: string]: Json }
  readonly created: Time
  /** What the streams and sensors were when it was begun: another one, another answer. */
  readonly state: string
  /** Numbers of its streams; null when they are many or all. */
  readonly streams: readonly number[] | null
}
export type Answer = AnswerRecord & Stored

export const answers = collection<AnswerRecord>('geo-answers', { byBlob: { on: ['blob'] }, byCreated: { on: ['created'] } })
