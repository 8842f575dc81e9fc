import { NetCDFReader } from 'netcdfjs'
import type { RemoteBytes } from './remote-bytes.ts'
import {
  type Description,
  isPacked,
  type NodeList,
  type Packing,
  packingOf,
  type ScientificFile,
  type Slice,
  textOf,
  unpacked,
} from './scientific-file.ts'

const maxHeaderBytes = 16_000_000

type Variable = NetCDFReader['variables'][number]

interface NumberType {
  readonly size: number
  readonly read: (view: DataView, at: number) => number
  readonly text: string
}

/** Types of values, stored in big-endian order. */
const types: Readonly<Record<string, NumberType>> = {
  byte: { size: 1, text: 'int8', read: (view, at) => view.getInt8(at) },
  char: { size: 1, text: 'char', read: (view, at) => view.getUint8(at) },
  short: { size: 2, text: 'int16', read: (view, at) => view.getInt16(at) },
  int: { size: 4, text: 'int32', read: (view, at) => view.getInt32(at) },
  float: { size: 4, text: 'float32', read: (view, at) => view.getFloat32(at) },
  double: { size: 8, text: 'float64', read: (view, at) => view.getFloat64(at) },
}

/** NetCDF-3. The header is parsed by netcdfjs; only the values shown are read. */
export class Netcdf3File implements ScientificFile {
  readonly format = 'NetCDF'
  #bytes: RemoteBytes
  #reader: NetCDFReader
  #recordStep: number

  /** The header does not declare its length, so more is read until it is complete. */
  static open(bytes: RemoteBytes): Netcdf3File {
    for (let length = 65_536; ; length *= 4) {
      const start = bytes.read(0, length)
      try {
        return new Netcdf3File(bytes, new NetCDFReader(start))
      } catch (error) {
        if (length >= Math.min(bytes.sizeBytes, maxHeaderBytes)) throw error
      }
    }
  }

  constructor(bytes: RemoteBytes, reader: NetCDFReader) {
    this.#bytes = bytes
    this.#reader = reader
    const records = reader.variables.filter(each => each.record)
    const [only] = records
    // A single record variable is not padded to four bytes.
    this.#recordStep =
      records.length === 1 && only
        ? this.#shape(only)
            .slice(1)
            .reduce((product, each) => product * each, typeOf(only).size)
        : (reader.recordDimension.recordStep ?? 0)
  }

  children(): NodeList {
    const nodes = this.#reader.variables.map(variable => ({
      name: variable.name,
      path: `/${variable.name}`,
      kind: 'array' as const,
      shape: this.#shape(variable),
    }))
    return { nodes, total: nodes.length }
  }

  describe(path: string): Description {
    const none = { shape: [], type: '', storage: [], isNumeric: false, units: '', dimensions: [], isScaled: false }
    if (path === '/') return { kind: 'group', attributes: attributesOf(this.#reader.globalAttributes), ...none }
    const variable = this.#variable(path)
    const attributes = attributesOf(variable.attributes)
    return {
      kind: 'array',
      attributes,
      shape: this.#shape(variable),
      type: typeOf(variable).text,
      storage: [],
      isNumeric: variable.type !== 'char',
      units: attributes.find(([name]) => name === 'units')?.[1] ?? '',
      dimensions: variable.dimensions.map(id => this.#reader.dimensions[id]?.name ?? ''),
      isScaled: isPacked(packing(variable)),
    }
  }

  slice(path: string, ranges: readonly (readonly [number, number])[]): Slice {
    const variable = this.#variable(path)
    const { size, read } = typeOf(variable)
    const shape = this.#shape(variable)
    const strides = this.#strides(variable, shape, size)
    const [start, stop] = ranges.at(-1) ?? [0, 1]
    const inner = strides.at(-1) ?? size
    const values: number[] = []
    const row = (offset: number): void => {
      const bytes = this.#bytes.read(offset + start * inner, (stop - start - 1) * inner + size)
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      for (let at = start; at < stop; at++) values.push(read(view, (at - start) * inner))
    }
    const walk = (dimension: number, offset: number): void => {
      if (dimension >= ranges.length - 1) {
        row(offset)
        return
      }
      const [from, to] = ranges[dimension] ?? [0, 0]
      for (let at = from; at < to; at++) walk(dimension + 1, offset + at * (strides[dimension] ?? 0))
    }
    walk(0, variable.offset)
    if (variable.type === 'char') return values.map(code => (code === 0 ? '' : String.fromCharCode(code)))
    return unpacked(Float64Array.from(values), packing(variable))
  }

  #variable(path: string): Variable {
    const found = this.#reader.variables.find(({ name }) => name === path.slice(1))
    if (!found) throw new Error(`${path} cannot be read`)
    return found
  }

  #shape(variable: Variable): readonly number[] {
    const { dimensions, recordDimension } = this.#reader
    return variable.dimensions.map(id => (id === recordDimension.id ? recordDimension.length : (dimensions[id]?.size ?? 0)))
  }

  #strides(variable: Variable, shape: readonly number[], size: number): readonly number[] {
    const strides = shape.map((_, at) => shape.slice(at + 1).reduce((product, each) => product * each, size))
    return variable.record ? [this.#recordStep, ...strides.slice(1)] : strides
  }
}

const typeOf = (variable: Variable): NumberType => {
  const found = types[variable.type]
  if (!found) throw new Error(`Type ${variable.type} cannot be read`)
  return found
}

const attributesOf = (attributes: readonly { readonly name: string; readonly value: unknown }[]): readonly (readonly [string, string])[] =>
  attributes.map(({ name, value }) => [name, textOf(value)])

const packing = (variable: Variable): Packing =>
  packingOf(
    name => (variable.attributes as readonly { readonly name: string; readonly value: unknown }[]).find(each => each.name === name)?.value,
  )
