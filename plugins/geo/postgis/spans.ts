import type { GeoBinning, TimeBin } from 'pounce/sdk'
import { dayOf, floorDivision, monthOf } from './conditions.ts'
import type { SqlParameters } from './sql-parameters.ts'

/** Spans of time that are numbered: the number of the one that holds a moment, and where the one of a number begins. */
export interface Spans {
  readonly numberAt: (ms: string) => string
  readonly startOf: (number: string) => string
  /** Which spans `n` a point enters, `later` being how many it entered before, when it is not all. */
  readonly condition?: string
}

const dayMs = 86_400_000
const lengths: Readonly<Partial<Record<TimeBin, number>>> = { minute: 60_000, hour: 3_600_000, day: dayMs, week: 7 * dayMs }
const monthsIn: Readonly<Partial<Record<TimeBin, number>>> = { month: 1, semi: 6, year: 12, lustrum: 60, decade: 120 }
/** 29 December 1969 was a Monday. */
const mondayMs = -3 * dayMs

const even = (everyMs: number, originMs: number, binds: SqlParameters): Spans => {
  const [every, origin] = [binds.add(everyMs, 'bigint'), binds.add(originMs, 'bigint')]
  return {
    numberAt: ms => floorDivision(`(${ms} - ${origin})`, every),
    startOf: number => `(${origin} + ${number} * ${every})`,
  }
}

const msOf = (timestamp: string): string => `(extract(epoch from ${timestamp})::bigint * 1000)`

const months = (length: number, binds: SqlParameters): Spans => {
  const each = binds.add(length, 'bigint')
  return {
    numberAt: ms => `(${monthOf(ms)} / ${each})`,
    startOf: number => msOf(`(timestamp '2000-01-01' + make_interval(months => (${number} * ${each} - 24000)::int))`),
  }
}

/** Five a year; the first and the last are its winter, and a point that enters the first does not enter the last. */
const seasons: Spans = {
  numberAt: ms => {
    const day = dayOf(ms)
    const passed = `width_bucket((date_part('month', ${day}) * 100 + date_part('day', ${day}))::int, array[321, 621, 921, 1221])`
    return `(date_part('year', ${day})::bigint * 5 + ${passed})`
  },
  startOf: number => {
    const [year, which] = [`(${number} / 5)::int`, `(${number} % 5)::int`]
    return msOf(`make_date(${year}, (array[1, 3, 6, 9, 12])[${which} + 1], case when ${which} = 0 then 1 else 21 end)::timestamp`)
  },
  condition: 'not (n % 5 = 4 and later >= 4)',
}

/** The spans of a way to sum up; undefined when there is one only. */
export const spansOf = (time: GeoBinning['time'], binds: SqlParameters): Spans | undefined => {
  if (typeof time !== 'string') return even(time.everyMs, time.originMs, binds)
  const length = lengths[time]
  if (length !== undefined) return even(length, time === 'week' ? mondayMs : 0, binds)
  const count = monthsIn[time]
  if (count !== undefined) return months(count, binds)
  return time === 'season' ? seasons : undefined
}
