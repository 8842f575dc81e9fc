/** Invalid values with a title: for a geometry, a time, a set of properties or the number of a resource. */
type Bad = readonly (readonly [title: string, value: unknown])[]

const nestedPoint = (depth: number): unknown => {
  let geometry: unknown = { type: 'Point', coordinates: [1, 2] }
  for (let at = 0; at < depth; at += 1) geometry = { type: 'GeometryCollection', geometries: [geometry] }
  return geometry
}
const ofType = (type: string, coordinates: unknown) => ({ type, coordinates })
const zigzag = (length: number): readonly (readonly number[])[] => Array.from({ length }, (_, n) => [n % 90, n % 80])

export const badGeometries: Bad = [
  ['null', null],
  ['a text', 'Point(1 2)'],
  ['an array', [1, 2]],
  ['an empty object', {}],
  ['no type', { coordinates: [1, 2] }],
  ['no coordinates', { type: 'Point' }],
  ['a type of another case', ofType('point', [1, 2])],
  ['a type of elsewhere', ofType('Circle', [1, 2])],
  ['a feature', { type: 'Feature', geometry: ofType('Point', [1, 2]), properties: {} }],
  ['a prototype', ofType('toString', [1, 2])],
  ['coordinates as an object', ofType('Point', { 0: 1, 1: 2 })],
  ['no numbers', ofType('Point', [])],
  ['one number', ofType('Point', [1])],
  ['four numbers', ofType('Point', [1, 2, 3, 4])],
  ['texts', ofType('Point', ['1', '2'])],
  ['null instead of a number', ofType('Point', [null, 2])],
  ['a longitude out of range', ofType('Point', [180.5, 2])],
  ['latitude and longitude swapped', ofType('Point', [40.1, -100.2, 0])],
  ['coordinates of a line in a point', ofType('Point', [[1, 2]])],
  ['coordinates of a point in a line', ofType('LineString', [1, 2])],
  ['a line of one position', ofType('LineString', [[1, 2]])],
  [
    'positions with and without altitude',
    ofType('LineString', [
      [1, 2],
      [1, 2, 3],
    ]),
  ],
  [
    'a ring that is open',
    ofType('Polygon', [
      [
        [0, 0],
        [0, 1],
        [1, 1],
        [1, 0],
      ],
    ]),
  ],
  [
    'a ring of three positions',
    ofType('Polygon', [
      [
        [0, 0],
        [0, 1],
        [0, 0],
      ],
    ]),
  ],
  ['a polygon without rings', ofType('Polygon', [])],
  ['a polygon instead of a list of polygons', ofType('MultiPolygon', [[[0, 0]]])],
  ['a collection of nothing', { type: 'GeometryCollection', geometries: [] }],
  ['a collection without geometries', { type: 'GeometryCollection' }],
  ['collections in collections', nestedPoint(9)],
  ['more than 10,000 positions', ofType('LineString', zigzag(10_001))],
]

export const badTimes: Bad = [
  ['a number', 1_485_358_382],
  ['an object', {}],
  ['an empty text', ''],
  ['words', 'yesterday'],
  ['a day with a zone', '2017-01-25Z'],
  ['a day with half a time', '2017-01-25T'],
  ['a month of one digit', '2017-1-25'],
  ['a day that there is not', '2017-02-30T00:00:00Z'],
  ['an hour that there is not', '2017-01-25T25:00:00Z'],
  ['a zone that there is not', '2017-01-25T09:33:02+25:00'],
  ['the year 0', '0000-01-01T00:00:00Z'],
  ['a year beyond', '+012017-01-25T09:33:02Z'],
  ['more after it', '2017-01-25T09:33:02Z; DROP TABLE points'],
]

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })

export const badProperties: Bad = [
  ['null', null],
  ['an array', [1]],
  ['a text', 'a=1'],
  ['a number', 5],
  ['a null character', { a: 'b\u0000' }],
  ['a name with a null character', { 'a\u0000': 1 }],
  ['half a character', { a: '\ud800' }],
  ['64 levels', deep(64)],
  ['more than 64 KiB', { a: 'x'.repeat(70_000) }],
]

/** Invalid numbers of a sensor, stream or datapoint in a URL. */
export const badNumbers: readonly string[] = [
  ...['nonsense', '0', '-1', '1.5', '1e1', '0x1', '1 ', '١', '\u0000', '../../x', '💥', '__proto__', 'NaN', 'Infinity'],
  ...['9007199254740993', '99999999999999999999', '000000010000000000000001', 'f'.repeat(24)],
]

/** Property names that must be treated as plain names. */
export const hostileNames: readonly string[] = [
  ...["'; DROP TABLE points; --", "x' OR '1'='1", '"', '\\', '%', '_', '$', '$.a', 'a"b', 'a.b', '$**', '@?', '?|', '[0]', '#>>{a}'],
  ...['nitrate"."x', "nitrate') OR 1=1 --", '\u202e', 'İ', 'toString', '💥'.repeat(200)],
]
