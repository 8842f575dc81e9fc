import { type Bytes, s } from 'pounce/sdk'

const Feature = s.model(
  'Feature',
  s.Object({
    type: s.Literal('Feature'),
    geometry: s.Record(s.String(), s.Unknown()),
    properties: s.Record(s.String(), s.Unknown()),
  }),
)

/** A GeoJSON collection, RFC 7946. */
const collectionOf = (feature: s.TSchema) => s.Object({ type: s.Literal('FeatureCollection'), features: s.Array(feature) })

/** A response as JSON, GeoJSON or CSV, generated while it is sent. */
export const tableAnswer = (json: s.TSchema, feature: s.TSchema = Feature) =>
  s.bytes<Bytes>({ 'application/json': json, 'application/geo+json': collectionOf(feature), 'text/csv': s.bytes() })
