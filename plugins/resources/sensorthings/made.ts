import type { Entities, Entity, EntityType, Key, Step } from './entity.ts'
import type { Value } from './values.ts'
import type { Lot } from './walk-records.ts'

/** What an entity is made of. */
interface Made {
  readonly type: EntityType
  readonly key: Key
  readonly fields: Readonly<Record<string, () => Value>>
  readonly ones?: Readonly<Record<string, () => Promise<Entity | undefined>>>
  readonly manies?: Readonly<Record<string, () => Entities>>
}

/** An entity; its fields are reckoned when they are asked for. */
export const entity = ({ type, key, fields, ones = {}, manies = {} }: Made): Entity => ({
  type,
  key,
  field: name => (name === 'id' ? key : fields[name]?.()),
  one: async link => ones[link]?.(),
  many(link) {
    const many = manies[link]
    if (!many) throw new Error(`${type.set} have no ${link}`)
    return many()
  },
})

/** Walks raw things and shows them as entities. */
export async function* steps<T>(
  looked: AsyncIterable<Lot<T>>,
  show: (item: T) => Entity | Promise<Entity>,
): AsyncGenerator<readonly Step[]> {
  for await (const lot of looked)
    yield lot.map(({ item, cursor }) => (item === undefined ? { cursor } : { show: () => show(item), cursor }))
}

/** A key of two parts: a number and the name of a parameter. */
export const partsOf = (key: Key): readonly [number | undefined, string] => {
  const [, digits, parameter] = /^([1-9]\d{0,15}):(.*)$/s.exec(String(key)) ?? []
  const number = Number(digits)
  return parameter === undefined || !Number.isSafeInteger(number) ? [undefined, ''] : [number, parameter]
}

/** A key that is a number of a sensor or datapoint. */
export const isNumber = (key: Key): key is number => Number.isSafeInteger(key) && Number(key) > 0
