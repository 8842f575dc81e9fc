/** A file as a tree of groups and arrays, for both HDF5 and NetCDF. */
export interface ScientificFile {
  readonly format: string
  children(path: string): NodeList
  describe(path: string): Description
  /** The values of a slice, `[start, stop)` for each dimension, in storage order; `isExact`: integers that no number can hold are formatted as text. */
  slice(path: string, ranges: readonly (readonly [number, number])[], isExact: boolean): Slice
}

export interface NodeList {
  readonly nodes: readonly TreeNode[]
  /** Total number of nodes; only the first ones are listed. */
  readonly total: number
}

export interface TreeNode {
  readonly name: string
  readonly path: string
  /** `link`: to another file or dangling; not followed. */
  readonly kind: 'group' | 'array' | 'link' | 'type'
  readonly shape?: readonly number[]
  readonly target?: string
}

export interface Description {
  readonly kind: TreeNode['kind']
  readonly attributes: readonly (readonly [name: string, value: string])[]
  readonly shape: readonly number[]
  readonly type: string
  readonly storage: readonly string[]
  readonly isNumeric: boolean
  readonly units: string
  readonly dimensions: readonly string[]
  /** Whether values are unpacked with the scale and offset in the attributes. */
  readonly isScaled: boolean
}

/** Numbers, with NaN for missing ones; or strings. */
export type Slice = Float64Array | readonly string[]

export const maxNodes = 2000
const maxText = 2000

export const cut = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)} …` : text)

/** Formats a value of any shape. */
export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return cut(value)
  if (value === null || value === undefined) return ''
  if (ArrayBuffer.isView(value) || Array.isArray(value)) {
    const items = value as unknown as ArrayLike<unknown>
    const shown = Array.from({ length: Math.min(items.length, 100) }, (_, at) => textOf(items[at]))
    return cut(`${shown.join(', ')}${items.length > shown.length ? ' …' : ''}`)
  }
  if (typeof value === 'object') return cut(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '')
  return String(value)
}

/** Packing of values, by the NetCDF conventions. */
export interface Packing {
  readonly scale: number
  readonly offset: number
  readonly missing: readonly number[]
}

export const packingOf = (attribute: (name: string) => unknown): Packing => {
  const number = (name: string): number | undefined => {
    const value = attribute(name)
    const one = ArrayBuffer.isView(value) || Array.isArray(value) ? (value as unknown as ArrayLike<unknown>)[0] : value
    return typeof one === 'number' || typeof one === 'bigint' ? Number(one) : undefined
  }
  return {
    scale: number('scale_factor') ?? 1,
    offset: number('add_offset') ?? 0,
    missing: [number('_FillValue'), number('missing_value')].filter(each => each !== undefined),
  }
}

export const isPacked = ({ scale, offset }: Packing): boolean => scale !== 1 || offset !== 0

export const unpacked = (values: Float64Array, { scale, offset, missing }: Packing): Float64Array => {
  if (scale === 1 && offset === 0 && missing.length === 0) return values
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    values[at] = missing.includes(value) ? Number.NaN : value * scale + offset
  }
  return values
}
