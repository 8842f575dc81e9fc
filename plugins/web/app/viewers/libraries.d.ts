declare module 'shpjs' {
  import type { FeatureCollection, Geometry } from 'geojson'
  export const parseShp: (shp: ArrayBuffer, prj?: string) => Geometry[]
  export const parseDbf: (dbf: ArrayBuffer, cpg?: string) => Record<string, unknown>[]
  export const combine: (parts: readonly [Geometry[], Record<string, unknown>[] | undefined]) => FeatureCollection
}
declare module 'topojson-client' {
  import type { FeatureCollection } from 'geojson'
  export const feature: (topology: unknown, object: unknown) => FeatureCollection
}
declare module 'three/examples/jsm/libs/draco/gltf/draco_wasm_wrapper.js' {
  const make: (options: object) => unknown
  export default make
}
