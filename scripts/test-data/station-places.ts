/** Location of stations: a box of dry land in one catchment (west, south, east, north). */
export interface Region {
  readonly id: string
  readonly title: string
  readonly boxes: readonly (readonly [west: number, south: number, east: number, north: number])[]
  /** Minimum and maximum, in metres above sea level. */
  readonly altitude: readonly [number, number]
  /** Annual mean in degrees Celsius. */
  readonly warmth: number
}

/** A body of water, as the path of moving stations. */
export interface Water {
  readonly id: string
  readonly title: string
  readonly way: readonly (readonly [longitude: number, latitude: number])[]
  readonly altitude: number
  readonly warmth: number
}

/** Twelve catchments on five continents; the last one crosses the antimeridian, and some are in the southern hemisphere. */
export const regions: readonly Region[] = [
  { id: 'vermilion', title: 'Vermilion River, Illinois', boxes: [[-88.4, 39.9, -87.7, 40.6]], altitude: [160, 240], warmth: 11 },
  { id: 'sangamon', title: 'Sangamon River, Illinois', boxes: [[-89.6, 39.6, -88.5, 40.2]], altitude: [150, 230], warmth: 11.5 },
  { id: 'maumee', title: 'Maumee River, Ohio', boxes: [[-84.8, 40.7, -83.8, 41.4]], altitude: [180, 280], warmth: 10 },
  { id: 'willow', title: 'Willow Creek, Iowa', boxes: [[-94.4, 41.6, -93.2, 42.5]], altitude: [250, 380], warmth: 9 },
  { id: 'mulde', title: 'Mulde, Sachsen', boxes: [[12.4, 50.6, 13.3, 51.4]], altitude: [110, 650], warmth: 9 },
  { id: 'main', title: 'Main, Unterfranken', boxes: [[9.4, 49.7, 10.4, 50.2]], altitude: [140, 420], warmth: 10 },
  { id: 'thames', title: 'Upper Thames', boxes: [[-1.9, 51.5, -0.9, 51.9]], altitude: [45, 210], warmth: 10.5 },
  { id: 'po', title: 'Pianura Padana', boxes: [[8.4, 44.9, 10.2, 45.5]], altitude: [40, 160], warmth: 13.5 },
  { id: 'piracicaba', title: 'Rio Piracicaba', boxes: [[-48.1, -23.0, -46.8, -22.4]], altitude: [460, 800], warmth: 20.5 },
  { id: 'murrumbidgee', title: 'Murrumbidgee River', boxes: [[145.6, -35.3, 148.3, -34.6]], altitude: [110, 420], warmth: 16.5 },
  { id: 'mara', title: 'Mara River', boxes: [[34.6, -1.6, 35.6, -0.8]], altitude: [1400, 2200], warmth: 19 },
  {
    id: 'taveuni',
    title: 'Taveuni',
    boxes: [
      [179.97, -16.88, 179.999, -16.83],
      [-179.999, -16.88, -179.95, -16.82],
    ],
    altitude: [20, 700],
    warmth: 25.5,
  },
]

export const waters: readonly Water[] = [
  {
    id: 'lake-erie',
    title: 'Lake Erie, central basin',
    way: [
      [-81.6, 41.8],
      [-81.0, 42.1],
      [-80.5, 42.3],
    ],
    altitude: 174,
    warmth: 11,
  },
  {
    id: 'lake-michigan',
    title: 'Lake Michigan ferry',
    way: [
      [-87.86, 43.02],
      [-87.2, 43.1],
      [-86.36, 43.22],
    ],
    altitude: 176,
    warmth: 9.5,
  },
  {
    id: 'german-bight',
    title: 'Deutsche Bucht',
    way: [
      [8.1, 54.0],
      [7.7, 54.2],
      [7.0, 54.6],
    ],
    altitude: 0,
    warmth: 10.5,
  },
  {
    id: 'koro-sea',
    title: 'Koro Sea',
    way: [
      [179.4, -17.6],
      [179.9, -17.5],
    ],
    altitude: 0,
    warmth: 26.5,
  },
]
