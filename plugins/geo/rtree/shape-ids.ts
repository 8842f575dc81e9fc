import type { Connection } from 'pounce/sdk/sqlite'
import type { Shape } from './packed-points.ts'

/** The shape of points without numbers in columns. */
export const bareShape = 1
/** More are not kept; what points have then stands with each of them. */
const mostShapes = 10_000
/** Of the same names: a text that differs from point to point is no shape. */
const mostOfNames = 256
const longestRest = 1000

/** How a point is kept: its shape, and what it has besides. */
export interface Kept {
  readonly shape: number
  readonly isBare: boolean
  readonly rest: string | null
}

/** Numbers of shapes for the one connection that writes. Forget it when a transaction is undone. */
export class ShapeIds {
  readonly #db: Connection
  readonly #known = new Map<string, number>()
  readonly #perNames = new Map<string, number>()

  constructor(db: Connection) {
    this.#db = db
    for (const [id, names, rest] of db.all('SELECT id, names, rest FROM shapes')) this.#note(String(names), String(rest), Number(id))
  }

  /** A shape that the point shares with others if there is room for it. */
  keep({ names, rest }: Shape): Kept {
    const text = JSON.stringify(names)
    const whole = this.#idOf(text, rest)
    if (whole !== undefined) return { shape: whole, isBare: false, rest: null }
    const ofNames = this.#idOf(text, '')
    if (ofNames !== undefined) return { shape: ofNames, isBare: false, rest }
    return { shape: bareShape, isBare: true, rest: rest === '' ? null : rest }
  }

  #idOf(names: string, rest: string): number | undefined {
    const known = this.#known.get(`${names} ${rest}`)
    if (known !== undefined) return known
    if (this.#known.size >= mostShapes || rest.length > longestRest) return undefined
    if (rest !== '' && (this.#perNames.get(names) ?? 0) >= mostOfNames) return undefined
    const id = this.#db.insert('INSERT INTO shapes (names, rest) VALUES (?, ?)', names, rest)
    this.#note(names, rest, id)
    return id
  }

  #note(names: string, rest: string, id: number): void {
    this.#known.set(`${names} ${rest}`, id)
    this.#perNames.set(names, (this.#perNames.get(names) ?? 0) + 1)
  }
}
