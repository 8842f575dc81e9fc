import type { GeoFilter } from 'pounce/sdk'
import type { BinTimes } from './bin-times.ts'

/** How to sum up, and what to tell. */
export interface BinQuestion {
  readonly times: BinTimes
  /** Steps of altitude; undefined: depths are not told apart. */
  readonly depthMetres: number | undefined
  readonly filter: Omit<GeoFilter, 'streams'>
  readonly shown?: ReadonlySet<string>
  readonly isRaw: boolean
}

/** What groups readings, and is no property of theirs. */
export const special = { depthCode: 'DEPTH_CODE', source: 'source' } as const
export const isSpecial = (name: string): boolean => name === special.depthCode || name === special.source
/** Readings without a depth code. */
export const noDepthCode = 'NA'
