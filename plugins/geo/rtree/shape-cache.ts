import type { Connection } from 'pounce/sdk/sqlite'
import { type ReadShape, readShape } from './packed-points.ts'

/** Shapes by their number. They are few, and none ever changes or goes. */
export class ShapeCache {
  readonly #db: Connection
  readonly #shapes: ReadShape[] = []
  #mostNames = 0

  constructor(db: Connection) {
    this.#db = db
  }

  /** Reads those that came since. To be called in the transaction that reads points. */
  refresh(): void {
    for (const [id, names, rest] of this.#db.all('SELECT id, names, rest FROM shapes WHERE id >= ? ORDER BY id', this.#shapes.length)) {
      const shape = readShape({ names: JSON.parse(String(names)) as string[], rest: String(rest) })
      this.#shapes[Number(id)] = shape
      this.#mostNames = Math.max(this.#mostNames, shape.names.length)
    }
  }

  get(id: number): ReadShape {
    return this.#shapes[id] as ReadShape
  }

  /** How many columns of numbers any point has. */
  get mostNames(): number {
    return this.#mostNames
  }
}
