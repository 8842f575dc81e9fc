import { lakeSignals, riverSignals, type Signal, seaSignals, soilSignals, weatherSignals } from './station-signals.ts'

/** The end time of a stream's datapoints: their start, none, or the start of the next one. */
export type Ending = 'at once' | 'open' | 'span'

/** The template of a stream for stations of a kind. */
export interface StreamPlan {
  readonly name: string
  readonly signals: readonly Signal[]
  readonly pace: 1 | 2 | 8
  readonly ending: Ending
  readonly levels?: readonly number[]
  readonly shape?: 'plot' | 'track'
  readonly extra?: 'lab' | 'depth' | 'quality'
}

/** Stations of one network. */
export interface Kind {
  readonly source: string
  readonly title: string
  /** Number of stations out of 200. */
  readonly share: number
  readonly isAfloat: boolean
  readonly streams: readonly StreamPlan[]
}

/** Six networks; the shares add up to 200. */
export const kinds: readonly Kind[] = [
  {
    ...{ source: 'hydro', title: 'Stream gauge', share: 96, isAfloat: false },
    streams: [
      { name: 'gauge', signals: riverSignals.slice(0, 2), pace: 1, ending: 'at once' },
      { name: 'sonde', signals: riverSignals.slice(6, 9).concat(riverSignals.slice(2, 3)), pace: 1, ending: 'at once', extra: 'quality' },
      { name: 'nitrate sensor', signals: [riverSignals[3], riverSignals[5]].filter(one => one !== undefined), pace: 2, ending: 'span' },
      { name: 'grab samples', signals: riverSignals.slice(3, 6), pace: 8, ending: 'open', extra: 'lab' },
    ],
  },
  {
    ...{ source: 'met', title: 'Weather station', share: 48, isAfloat: false },
    streams: [
      { name: 'air', signals: weatherSignals.slice(0, 2), pace: 1, ending: 'at once' },
      { name: 'rain and wind', signals: weatherSignals.slice(2, 4), pace: 1, ending: 'span' },
      { name: 'means', signals: weatherSignals.slice(0, 1).concat(weatherSignals.slice(4)), pace: 8, ending: 'span', extra: 'quality' },
    ],
  },
  {
    ...{ source: 'soil', title: 'Soil plot', share: 24, isAfloat: false },
    streams: [
      { name: 'profile', signals: soilSignals.slice(0, 2), pace: 2, ending: 'at once', levels: [-0.1, -0.3, -0.6], extra: 'depth' },
      { name: 'plot', signals: soilSignals.slice(0, 3), pace: 8, ending: 'span', shape: 'plot' },
    ],
  },
  {
    ...{ source: 'lake', title: 'Lake profiler', share: 16, isAfloat: false },
    streams: [
      { name: 'profile', signals: lakeSignals.slice(0, 2), pace: 2, ending: 'at once', levels: [0, -1, -3, -6, -10, -15], extra: 'depth' },
      { name: 'algae', signals: lakeSignals.slice(2), pace: 1, ending: 'at once' },
    ],
  },
  {
    ...{ source: 'buoy', title: 'Drifting buoy', share: 10, isAfloat: true },
    streams: [{ name: 'water', signals: seaSignals.slice(0, 3), pace: 1, ending: 'at once' }],
  },
  {
    ...{ source: 'ferry', title: 'Ferry box', share: 6, isAfloat: true },
    streams: [
      { name: 'underway', signals: seaSignals.slice(0, 2), pace: 1, ending: 'at once' },
      { name: 'transects', signals: seaSignals.slice(0, 4), pace: 8, ending: 'span', shape: 'track' },
    ],
  },
]

/** The kind for a ticket from 0 to 199. */
export const kindAt = (ticket: number): Kind => {
  const ends = kinds.map((_, at) => kinds.slice(0, at + 1).reduce((sum, { share }) => sum + share, 0))
  return kinds[ends.findIndex(end => ticket < end)] as Kind
}
