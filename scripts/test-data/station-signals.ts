/** A measured quantity and its model: a mean, annual and daily amplitudes, weather that persists for some days, and noise. */
export interface Signal {
  readonly name: string
  readonly mean: number
  /** Annual amplitude: above the mean in midsummer, below it in winter; inverted if negative. */
  readonly season: number
  /** Daily amplitude, with its maximum at 15:00. */
  readonly day: number
  readonly weather: number
  readonly noise: number
  readonly least: number
  readonly most: number
  readonly decimals: number
  /** All amplitudes are factors: 1 doubles or more. */
  readonly isLogarithmic?: boolean
  /** The mean is that of the region. */
  readonly isWarmth?: boolean
}

const signal = (
  name: string,
  [mean, season, day, weather, noise]: readonly [number, number, number, number, number],
  [least, most, decimals]: readonly [number, number, number],
  more: Partial<Signal> = {},
): Signal => ({ name, mean, season, day, weather, noise, least, most, decimals, ...more })

const warm = { isWarmth: true }
const logarithmic = { isLogarithmic: true }

/** Signals of rivers, in the order in which streams use them, two to four each. */
export const riverSignals: readonly Signal[] = [
  signal('discharge_m3_s', [12, -0.7, 0, 1.3, 0.05], [0.01, 4000, 2], logarithmic),
  signal('water-level_m', [1.4, -0.3, 0, 0.5, 0.01], [0.05, 12, 3]),
  signal('temperature_C', [0, 9, 0.8, 1.5, 0.1], [-0.3, 34, 2], warm),
  signal('nitrate_mg_l', [6, -3, 0.2, 2, 0.2], [0.05, 40, 2]),
  signal('phosphate_mg_l', [0.12, -0.4, 0, 0.6, 0.1], [0.005, 5, 3], logarithmic),
  signal('turbidity_NTU', [15, -0.3, 0.1, 1.6, 0.3], [0.1, 3000, 1], logarithmic),
  signal('dissolved-oxygen_mg_l', [9.5, -2.5, 1.1, 0.6, 0.1], [0, 18, 2]),
  signal('pH', [7.9, 0.1, 0.2, 0.2, 0.03], [5.5, 10, 2]),
  signal('Leitfähigkeit "20 °C" µS/cm', [620, 40, 5, 90, 4], [50, 3000, 0]),
]

export const weatherSignals: readonly Signal[] = [
  signal('air-temperature_C', [0, 11, 4.5, 5, 0.3], [-40, 48, 1], warm),
  signal('relative-humidity_pct', [72, -8, -14, 15, 2], [5, 100, 0]),
  signal('rain_mm', [-3, 0.5, 0.3, 6, 1], [0, 60, 1]),
  signal('wind_m_s', [3.2, -0.6, 0.9, 2.5, 0.8], [0, 35, 1]),
  signal('radiation_W_m2', [60, 120, 380, 60, 20], [0, 1200, 0]),
]

export const soilSignals: readonly Signal[] = [
  signal('soil-moisture_pct', [28, -6, 0, 6, 0.4], [2, 60, 1]),
  signal('soil-temperature_C', [0, 8, 1, 1.2, 0.1], [-12, 38, 2], warm),
  signal('soil-water-potential_kPa', [-60, -40, 0, 40, 5], [-1500, 0, 0]),
]

export const lakeSignals: readonly Signal[] = [
  signal('temperature_C', [0, 9, 0.3, 0.8, 0.05], [0, 32, 2], warm),
  signal('dissolved-oxygen_mg_l', [8.5, -2, 0.2, 0.5, 0.1], [0, 16, 2]),
  signal('chlorophyll_ug_l', [6, 0.9, 0.1, 0.8, 0.1], [0.1, 200, 2], logarithmic),
  signal('phycocyanin_RFU', [0.8, 1.1, 0.1, 0.7, 0.1], [0, 60, 3], logarithmic),
]

export const seaSignals: readonly Signal[] = [
  signal('temperature_C', [0, 7, 0.4, 0.8, 0.05], [-1.8, 31, 2], warm),
  signal('conductivity_mS_cm', [42, 0.5, 0, 1.5, 0.05], [0.1, 60, 2]),
  signal('wave-height_m', [1.1, -0.4, 0, 0.9, 0.05], [0.05, 14, 2], logarithmic),
  signal('fluorescence_RFU', [1.8, 0.8, 0.2, 0.6, 0.1], [0, 80, 2], logarithmic),
]

/** A deterministic pseudo-random number from 0 to 1 for two integers. */
export const chance = (seed: number, at: number): number => {
  let mixed = Math.imul(seed ^ Math.imul(at + 1, 0x9e37_79b1), 0x85eb_ca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2_ae35)
  mixed ^= mixed >>> 16
  mixed = Math.imul(mixed ^ seed, 0x27d4_eb2f)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}

/** Smooth noise from -1 to 1, interpolated between values of `chance`. */
export const wander = (seed: number, at: number): number => {
  const whole = Math.floor(at)
  const part = at - whole
  const share = part * part * (3 - 2 * part)
  return 2 * (chance(seed, whole) * (1 - share) + chance(seed, whole + 1) * share) - 1
}

const dayMs = 86_400_000
const yearDays = 365.2425
/** Day of the year: about 24 July. */
const midsummer = 204
const weatherDays = 4

/** The location of a measurement. */
export interface Site {
  readonly warmth: number
  readonly longitude: number
  readonly latitude: number
  /** An offset per site: sites of a kind differ by some percent. */
  readonly bias: number
  readonly seed: number
  /** The seed of the catchment, whose sites share the weather. */
  readonly weatherSeed: number
}

/** The value at a time; `index` distinguishes values of the same time. */
export const valueAt = (one: Signal, site: Site, ms: number, index: number): number => {
  const days = ms / dayMs
  const summer = Math.cos((2 * Math.PI * (days - midsummer)) / yearDays) * Math.max(-1, Math.min(1, site.latitude / 40))
  const afternoon = Math.cos(2 * Math.PI * (days + site.longitude / 360 - 15 / 24))
  const weather = 0.7 * wander(site.weatherSeed, days / weatherDays) + 0.3 * wander(site.seed, days)
  const swing = one.season * summer + one.day * afternoon + one.weather * weather + one.noise * (2 * chance(site.seed + 1, index) - 1)
  const mean = one.isWarmth ? site.warmth : one.mean * site.bias
  const value = one.isLogarithmic ? mean * Math.exp(swing) : mean + swing
  return rounded(Math.max(one.least, Math.min(one.most, value)), one.decimals)
}

/** Adding 0 turns -0 into 0. */
export const rounded = (value: number, decimals: number): number => Math.round(value * 10 ** decimals) / 10 ** decimals + 0
