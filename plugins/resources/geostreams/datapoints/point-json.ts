import { Problem } from 'pounce/sdk'
import { countJson, defaultJsonLimits, parseCounted } from 'pounce/sdk/kit'
import type { Refused } from './datapoint-json.ts'

/** The names that `assertSafeJson` refuses in all bodies. */
const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** The length is limited by the callers. */
const pointLimits = { ...defaultJsonLimits, maxBytes: 16 * 1024 * 1024 }

/** The number of names, or the first forbidden one. */
const namesIn = (value: unknown): number | string => {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== 'object') continue
      const inner = namesIn(item)
      if (typeof inner === 'string') return inner
      count += inner
    }
    return count
  }
  for (const name of Object.keys(value)) {
    if (forbidden.has(name)) return name
    const inner = namesIn((value as Readonly<Record<string, unknown>>)[name])
    if (typeof inner === 'string') return inner
    count += 1 + inner
  }
  return count
}

/**
 * Parses the JSON of one datapoint strictly: no duplicate names, no prototypes, at most 64 levels. Strings and numbers are not validated.
 */
export const parsePoint = (text: string): { readonly value: unknown } | Refused => {
  try {
    const value = parseCounted(text, pointLimits, 'It')
    const found = namesIn(value)
    if (typeof found === 'string') return { message: `It must not have a member named ${found}` }
    return found === countJson(text).members ? { value } : { message: 'It has the same name twice in one object' }
  } catch (error) {
    if (error instanceof Problem) return { message: error.message }
    throw error
  }
}

const dayMs = 86_400_000

const days = new Map<number, string>()

const maxDays = 4000

const two = (number: number): string => (number < 10 ? `0${number}` : `${number}`)

const minutes = Array.from({ length: 1440 }, (_, at) => `${two(Math.floor(at / 60))}:${two(at % 60)}:`)

const seconds = Array.from({ length: 60 }, (_, at) => two(at))

const parts = Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, '0'))

/** The date of a day since 1970, including the T: `2017-01-25T`. */
export const dayOf = (day: number): string => {
  let text = days.get(day)
  if (text === undefined) {
    if (days.size >= maxDays) days.clear()
    text = new Date(day * dayMs).toISOString().slice(0, 11)
    days.set(day, text)
  }
  return text
}

/**
 * A time in the format of Clowder 1.x, `2017-01-25T15:33:02Z`; with three more digits for fractions of a second. Optimized for millions:
 * days are cached.
 */
export const printTime = (ms: number): string => {
  if (ms === last.ms) return last.text
  last = { ms, text: print(ms) }
  return last.text
}

/** Consecutive datapoints often have the same time. */
let last = { ms: Number.NaN, text: '' }

const print = (ms: number): string => {
  const day = Math.floor(ms / dayMs)
  const ofDay = ms - day * dayMs
  const second = Math.floor(ofDay / 1000)
  const thousandths = ofDay - second * 1000
  const minute = dayOf(day) + minutes[Math.floor(second / 60)]
  return thousandths === 0 ? `${minute}${seconds[second % 60]}Z` : `${minute}${seconds[second % 60]}.${parts[thousandths]}Z`
}
