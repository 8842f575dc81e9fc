import type { ViewerHost } from '../host.ts'

/** Maximum unpacked size of the shapes and their attribute table. */
const maxUnpackedBytes = 200_000_000
/** Maximum number of features drawn and listed. */
const maxFeatures = 20_000

export interface FeaturesFound {
  /** GeoJSON features in WGS 84. */
  readonly features: readonly object[]
  readonly total: number
}

interface GeoJsonLike {
  readonly type?: unknown
  readonly features?: unknown
  readonly geometries?: unknown
  readonly crs?: { readonly properties?: { readonly name?: unknown } }
}

const geometries: ReadonlySet<unknown> = new Set([
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
])

export const featuresOfJson = async (host: ViewerHost): Promise<FeaturesFound & { readonly crs: string | undefined }> => {
  const bytes = await host.read(0, host.thing.sizeBytes)
  const found = JSON.parse(new TextDecoder().decode(bytes)) as GeoJsonLike
  const all =
    found.type === 'FeatureCollection' && Array.isArray(found.features)
      ? (found.features as readonly object[])
      : found.type === 'Feature'
        ? [found]
        : geometries.has(found.type)
          ? [{ type: 'Feature', properties: {}, geometry: found }]
          : undefined
  if (!all) throw new SyntaxError('Not GeoJSON')
  const name = found.crs?.properties?.name
  return { features: all.slice(0, maxFeatures), total: all.length, crs: typeof name === 'string' ? name : undefined }
}

/** Names of shapefiles in a ZIP. */
const shapes = /(?:^|\/)(?!\.)[^/]+\.shp$/i

export const hasShapes = async (host: ViewerHost): Promise<boolean> => {
  const { entries } = await unzipped(host)
  return Object.keys(entries).some(name => shapes.test(name) && !name.startsWith('__MACOSX'))
}

const unzipped = async (host: ViewerHost) => {
  const { unzip } = await import('unzipit')
  return unzip({
    getLength: async () => host.thing.sizeBytes,
    read: async (offset: number, size: number) => (await host.read(offset, offset + size)) as Uint8Array<ArrayBuffer>,
  })
}

export const featuresOfShapes = async (host: ViewerHost): Promise<FeaturesFound> => {
  const [{ entries }, { parseShp, parseDbf, combine }] = await Promise.all([unzipped(host), import('shpjs')])
  const names = Object.keys(entries).filter(name => shapes.test(name) && !name.startsWith('__MACOSX'))
  const lower = new Map(Object.entries(entries).map(([name, entry]) => [name.toLowerCase(), entry]))
  const features: object[] = []
  let total = 0
  let unpacked = 0
  for (const name of names) {
    const beside = (ending: string) => lower.get(`${name.slice(0, -3)}${ending}`.toLowerCase())
    unpacked += (beside('shp')?.size ?? 0) + (beside('dbf')?.size ?? 0) + (beside('prj')?.size ?? 0) + (beside('cpg')?.size ?? 0)
    if (unpacked > maxUnpackedBytes) throw new RangeError('Too large')
    const [shp, dbf, prj, cpg] = await Promise.all([
      beside('shp')?.arrayBuffer(),
      beside('dbf')?.arrayBuffer(),
      beside('prj')?.text(),
      beside('cpg')?.text(),
    ])
    if (!shp) continue
    const found = combine([parseShp(shp, prj), dbf ? parseDbf(dbf, cpg) : undefined])
    total += found.features.length
    features.push(...found.features.slice(0, maxFeatures - features.length))
  }
  return { features, total }
}
