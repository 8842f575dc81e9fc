import { BufferAttribute, BufferGeometry } from 'three'
import wasmUrl from 'three/examples/jsm/libs/draco/gltf/draco_decoder.wasm?url'
import DracoDecoderModule from 'three/examples/jsm/libs/draco/gltf/draco_wasm_wrapper.js'

type Numbers = Float32Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array

/** Typed arrays of attributes, and the Draco name of each. */
const kinds = {
  Float32Array: [Float32Array, 'DT_FLOAT32'],
  Int8Array: [Int8Array, 'DT_INT8'],
  Int16Array: [Int16Array, 'DT_INT16'],
  Int32Array: [Int32Array, 'DT_INT32'],
  Uint8Array: [Uint8Array, 'DT_UINT8'],
  Uint16Array: [Uint16Array, 'DT_UINT16'],
  Uint32Array: [Uint32Array, 'DT_UINT32'],
} as const

interface Pointed {
  readonly ptr: number
}
interface Mesh extends Pointed {
  num_faces(): number
  num_points(): number
}
interface Attribute extends Pointed {
  num_components(): number
}
interface Decoder extends Pointed {
  DecodeArrayToMesh(bytes: Int8Array, length: number, mesh: Mesh): { ok(): boolean }
  GetTrianglesUInt32Array(mesh: Mesh, length: number, at: number): void
  GetAttributeByUniqueId(mesh: Mesh, id: number): Attribute
  GetAttributeDataArrayForAllPoints(mesh: Mesh, attribute: Attribute, type: number, length: number, at: number): void
}
interface Draco {
  readonly Decoder: new () => Decoder
  readonly Mesh: new () => Mesh
  readonly HEAPF32: Float32Array
  readonly [type: `DT_${string}`]: number
  _malloc(length: number): number
  _free(at: number): void
  destroy(what: Pointed): void
}

let loaded: Promise<Draco> | undefined

const load = async (): Promise<Draco> => {
  const response = await fetch(wasmUrl)
  if (!response.ok) throw new Error(`${response.status} ${wasmUrl}`)
  const wasmBinary = await response.arrayBuffer()
  const make = DracoDecoderModule as unknown as (options: object) => unknown
  // Its return value has a `then` that never resolves.
  return new Promise(resolve => void make({ wasmBinary, onModuleLoaded: (draco: Draco) => resolve(draco) }))
}

/**
 * Decodes glTF meshes in the page. The loader in Three starts a worker from a blob, which the CSP of pages forbids.
 * It has the members of that loader that `GLTFLoader` calls.
 */
export class DracoMeshes {
  preload(): this {
    loaded ??= load()
    return this
  }

  decodeDracoFile(
    buffer: ArrayBuffer,
    done: (geometry: BufferGeometry) => void,
    ids: Readonly<Record<string, number>>,
    types: Readonly<Record<string, keyof typeof kinds>>,
    _colors: unknown,
    failed: (error: unknown) => void = () => undefined,
  ): void {
    this.preload()
    loaded?.then(draco => done(decoded(draco, new Int8Array(buffer), ids, types))).catch(failed)
  }

  dispose(): void {
    loaded = undefined
  }
}

const decoded = (
  draco: Draco,
  bytes: Int8Array,
  ids: Readonly<Record<string, number>>,
  types: Readonly<Record<string, keyof typeof kinds>>,
): BufferGeometry => {
  const decoder = new draco.Decoder()
  const mesh = new draco.Mesh()
  try {
    if (!decoder.DecodeArrayToMesh(bytes, bytes.byteLength, mesh).ok() || mesh.ptr === 0) throw new Error('Not a mesh of Draco')
    const geometry = new BufferGeometry()
    for (const [name, id] of Object.entries(ids)) {
      const [Kind, type] = kinds[types[name] ?? 'Float32Array']
      const attribute = decoder.GetAttributeByUniqueId(mesh, id)
      const size = attribute.num_components()
      const values = copied(draco, Kind, mesh.num_points() * size, (length, at) =>
        decoder.GetAttributeDataArrayForAllPoints(mesh, attribute, draco[type] as number, length, at),
      )
      geometry.setAttribute(
        name,
        new BufferAttribute(values as Float32Array<ArrayBuffer>, size, name === 'color' && !(values instanceof Float32Array)),
      )
    }
    const index = copied(draco, Uint32Array, mesh.num_faces() * 3, (length, at) => decoder.GetTrianglesUInt32Array(mesh, length, at))
    geometry.setIndex(new BufferAttribute(index as Uint32Array<ArrayBuffer>, 1))
    return geometry
  } finally {
    draco.destroy(mesh)
    draco.destroy(decoder)
  }
}

/** Copies numbers that the decoder writes into its memory. */
const copied = (
  draco: Draco,
  Kind: (typeof kinds)[keyof typeof kinds][0],
  count: number,
  write: (length: number, at: number) => void,
): Numbers => {
  const length = count * Kind.BYTES_PER_ELEMENT
  const at = draco._malloc(length)
  try {
    write(length, at)
    return new Kind(draco.HEAPF32.buffer as ArrayBuffer, at, count).slice()
  } finally {
    draco._free(at)
  }
}
