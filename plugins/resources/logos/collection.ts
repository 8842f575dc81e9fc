import { collection, type Time } from 'pounce/sdk'

/** A picture that stands for the installation, a space or a person. */
export interface Logo {
  /** `GLOBAL`, `space-<id>` or `user-<id>`. */
  readonly path: string
  readonly name: string
  readonly blob: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly contentType: string
  readonly author: string
  readonly created: Time
  /** Whether the name is shown beside it. */
  readonly showText: boolean
}

export const logos = collection<Logo>('logos', {
  byPlace: { on: ['path', 'name'], unique: true },
  byName: { on: ['name', 'created'] },
  byCreated: { on: ['created'] },
  byBlob: { on: ['blob'] },
})
