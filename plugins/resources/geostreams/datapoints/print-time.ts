const dayMs = 86_400_000
const days = new Map<number, string>()
const maxDays = 4000
const two = (number: number): string => (number < 10 ? `0${number}` : `${number}`)
const minutes = Array.from({ length: 1440 }, (_, at) => `${two(Math.floor(at / 60))}:${two(at % 60)}:`)
const seconds = Array.from({ length: 60 }, (_, at) => two(at))
const parts = Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, '0'))

/** Of a day since 1970, up to its T: `2017-01-25T`. */
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
 * A time of a reading as Clowder 1.x prints it, `2017-01-25T15:33:02Z`; with three more digits when it does not fall on a second. Made for
 * millions: days are remembered.
 */
export const printTime = (ms: number): string => {
  if (ms === last.ms) return last.text
  last = { ms, text: print(ms) }
  return last.text
}

/** Readings of one moment often stand together. */
let last = { ms: Number.NaN, text: '' }

const print = (ms: number): string => {
  const day = Math.floor(ms / dayMs)
  const ofDay = ms - day * dayMs
  const second = Math.floor(ofDay / 1000)
  const thousandths = ofDay - second * 1000
  const minute = dayOf(day) + minutes[Math.floor(second / 60)]
  return thousandths === 0 ? `${minute}${seconds[second % 60]}Z` : `${minute}${seconds[second % 60]}.${parts[thousandths]}Z`
}
