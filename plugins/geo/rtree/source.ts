import type { GeoAfter } from 'pounce/sdk'
import type { PointRow } from './rows.ts'

/** Takes rows in order. */
export interface Sink {
  /** How many more it takes; what is added beyond is not wanted. */
  readonly room: number
  add(row: PointRow): void
}

/** Rows in order, looked at in bounded steps so that other work can go on between. */
export interface Source {
  readonly isDone: boolean
  /** Adds what fits to the sink, until it has no room or about `effort` rows were looked at. Returns how many were. */
  fill(sink: Sink, effort: number): number
}

/** From where on, in which direction, and between which starts. */
export interface Range {
  readonly isDescending: boolean
  readonly fromMs: number
  readonly untilMs: number
  readonly after: GeoAfter | undefined
}

/** What a seek costs, in rows. */
export const seekEffort = 5

/** What a key in an index costs, in rows. */
export const keyEffort = 0.25

/** What a character of a text beside a point costs to read, in rows. */
export const textEffort = 0.01

/** Tells whether a row fits. */
export type RowTest = (row: PointRow) => boolean
