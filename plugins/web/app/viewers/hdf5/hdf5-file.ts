import h5wasm, { type Dataset, type Entity, type Group, type Metadata, type File as OpenedFile } from 'h5wasm'
import type { RemoteBytes } from './remote-bytes.ts'
import {
  cut,
  type Description,
  isPacked,
  maxNodes,
  type NodeList,
  type Packing,
  packingOf,
  type ScientificFile,
  type Slice,
  type TreeNode,
  textOf,
  unpacked,
} from './scientific-file.ts'

const name = '/file'
/** Maximum number of attributes shown; a larger value is not read. */
const maxAttributes = 500
const maxAttributeBytes = 1_000_000

/** Filters by their number in the format; those without a name here need a plugin that browsers lack. */
const filters: Readonly<Record<number, string>> = { 1: 'gzip', 2: 'shuffle', 3: 'fletcher32', 4: 'szip', 5: 'nbit', 6: 'scale-offset' }

interface StreamOperations {
  read(stream: unknown, buffer: Uint8Array, offset: number, length: number, position: number): number
}

/** The parts of Emscripten's file system needed for a file with remote bytes. */
interface FileSystem {
  writeFile(path: string, bytes: Uint8Array): void
  lookupPath(path: string): { readonly node: { usedBytes: number; stream_ops: StreamOperations } }
  readonly ErrnoError: new (code: number) => Error
}
const inputOutputError = 29

/** HDF5 and formats based on it, such as NetCDF-4 and NeXus. */
export class Hdf5File implements ScientificFile {
  readonly format = 'HDF5'
  #file: OpenedFile
  #filters: number[]

  static async open(bytes: RemoteBytes): Promise<Hdf5File> {
    const module = await h5wasm.ready
    // Otherwise the library writes errors to the console.
    module.activate_throwing_error_handler()
    const files = module.FS as unknown as FileSystem
    files.writeFile(name, new Uint8Array())
    const { node } = files.lookupPath(name)
    node.usedBytes = bytes.sizeBytes
    node.stream_ops = {
      ...node.stream_ops,
      read(_stream, buffer, offset, length, position) {
        try {
          const part = bytes.read(position, length)
          new Uint8Array(buffer.buffer, buffer.byteOffset + offset, part.length).set(part)
          return part.length
        } catch {
          throw new files.ErrnoError(inputOutputError)
        }
      },
    }
    return new Hdf5File(new h5wasm.File(name, 'r'), Object.keys(filters).map(Number))
  }

  constructor(file: OpenedFile, known: number[]) {
    if (file.file_id <= 0n) throw new Error('Not an HDF5 file')
    this.#file = file
    this.#filters = known
  }

  children(path: string): NodeList {
    const group = this.#get(path) as Group
    const names = group.keys()
    const above = path === '/' ? '' : path
    const nodes = names.slice(0, maxNodes).map((child): TreeNode => {
      const at = `${above}/${child}`
      const found = group.get(child) as unknown as FoundNode | null
      if (found?.type === 'Group') return { name: child, path: at, kind: 'group' }
      if (found?.type === 'Dataset') return { name: child, path: at, kind: 'array', shape: found.shape ?? [] }
      if (found?.type === 'Datatype') return { name: child, path: at, kind: 'type' }
      const target = found?.target ?? (found?.filename === undefined ? '' : `${found.filename}:${found.obj_path}`)
      return { name: child, path: at, kind: 'link', target: cut(target) }
    })
    return { nodes, total: names.length }
  }

  describe(path: string): Description {
    const found = this.#get(path)
    const attributes = this.#attributes(found)
    const units = attributes.find(([key]) => key === 'units')?.[1] ?? ''
    if (!isDataset(found)) {
      const kind = found.type === 'Group' ? 'group' : 'type'
      return { kind, attributes, shape: [], type: '', storage: [], isNumeric: false, units, dimensions: [], isScaled: false }
    }
    const { metadata } = found
    const filtered = found.filters.map(({ id, name: label }) => filters[id] ?? label ?? String(id))
    return {
      kind: 'array',
      attributes,
      shape: found.shape ?? [],
      type: typeText(metadata),
      storage: [...(metadata.chunks ? [metadata.chunks.join(' × ')] : []), ...filtered],
      isNumeric: isNumber(metadata),
      units,
      dimensions: found.get_dimension_labels().map(label => label ?? ''),
      isScaled: isPacked(this.#packing(found)),
    }
  }

  slice(path: string, ranges: readonly (readonly [number, number])[], isExact: boolean): Slice {
    const found = this.#get(path)
    if (!isDataset(found)) throw new Error(`${path} has no values`)
    const foreign = found.filters.find(({ id }) => !this.#filters.includes(id))
    if (foreign) throw Object.assign(new Error(foreign.name || String(foreign.id)), { name: 'UnknownFilter' })
    const value = ranges.length === 0 ? found.value : found.slice(ranges.map(([start, stop]) => [start, stop]))
    // A dataset without values.
    if (value === null) return []
    if (!isNumber(found.metadata)) return (Array.isArray(value) ? value : [value]).map(textOf)
    const packing = this.#packing(found)
    if (isExact && !isPacked(packing) && isLong(value)) {
      const items = typeof value === 'bigint' ? [value] : Array.from(value)
      return items.map(each => (packing.missing.includes(Number(each)) ? '' : String(each)))
    }
    const numbers = ArrayBuffer.isView(value)
      ? Float64Array.from(value as unknown as ArrayLike<number | bigint>, Number)
      : Float64Array.of(Number(value))
    return unpacked(numbers, packing)
  }

  #get(path: string): Exclude<Entity, { readonly target: string }> & Group {
    const found = this.#file.get(path)
    if (!found || !('attrs' in found)) throw new Error(`${path} cannot be read`)
    return found as Group
  }

  #attributes(found: Group): readonly (readonly [string, string])[] {
    return Object.values(found.attrs)
      .slice(0, maxAttributes)
      .map(attribute => {
        try {
          if (attribute.metadata.total_size * attribute.metadata.size > maxAttributeBytes) return [attribute.name, '…'] as const
          return [attribute.name, textOf(attribute.json_value)] as const
        } catch {
          return [attribute.name, '?'] as const
        }
      })
  }

  #packing(found: Dataset): Packing {
    const { attrs } = found
    return packingOf(key => {
      try {
        return attrs[key]?.value
      } catch {
        return undefined
      }
    })
  }
}

/** A member of a group: an object in this file, or a link to another one. */
interface FoundNode {
  readonly type: string
  readonly shape?: number[] | null
  readonly target?: string
  readonly filename?: string
  readonly obj_path?: string
}

const isDataset = (entity: Entity): entity is Dataset => 'type' in entity && entity.type === 'Dataset'

/** Datatype classes, as numbered by the format. */
const classes = {
  integer: 0,
  float: 1,
  string: 3,
  bitField: 4,
  opaque: 5,
  compound: 6,
  reference: 7,
  enumeration: 8,
  variableLength: 9,
  array: 10,
}

const isNumber = ({ type }: Metadata): boolean => type === classes.integer || type === classes.float || type === classes.enumeration

/** Integers of 64 bits, which a number may round. */
const isLong = (value: unknown): value is bigint | BigInt64Array | BigUint64Array =>
  typeof value === 'bigint' || value instanceof BigInt64Array || value instanceof BigUint64Array

const typeText = ({ type, size, signed, compound_type, array_type }: Metadata): string => {
  if (type === classes.integer) return `${signed ? '' : 'u'}int${size * 8}`
  if (type === classes.float) return `float${size * 8}`
  if (type === classes.compound) return `{ ${(compound_type?.members ?? []).map(each => `${each.name}: ${typeText(each)}`).join(', ')} }`
  if (type === classes.array && array_type) return `${typeText(array_type)}[${array_type.shape?.join(', ') ?? ''}]`
  return Object.entries(classes).find(([, each]) => each === type)?.[0] ?? String(type)
}
