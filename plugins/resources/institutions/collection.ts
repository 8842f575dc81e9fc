import { collection } from 'pounce/sdk'

/** A name that people can pick for their profile. Its id is a digest of it in lower case, so that each is there once. */
export interface Named {
  readonly name: string
}

export const institutions = collection<Named>('institutions', { byName: { on: ['name'] } })
export const projects = collection<Named>('projects', { byName: { on: ['name'] } })
