import { type Caller, NotFound, type Stored } from 'pounce/sdk'
import type { Logo } from './collection.ts'
import type { LogoRights } from './logo-rights.ts'
import type { StoredLogos } from './stored-logos.ts'

/** By its id, or by where it is. */
export type Named = { readonly id: string } | { readonly path: string; readonly name: string }
/** What the routes of one logo need. */
export interface Resolved {
  readonly logos: StoredLogos
  readonly access: LogoRights
}

/** One that is there and that the caller may see. */
export const seen = async ({ logos, access }: Resolved, caller: Caller, named: Named): Promise<(Logo & Stored) | undefined> => {
  const found = await ('id' in named ? logos.get(named.id) : logos.at(named.path, named.name))
  return found && (await access.maySee(caller, found.path)) ? found : undefined
}

/** The same; `NotFound` when there is none. */
export const existing = async (resolved: Resolved, caller: Caller, named: Named): Promise<Logo & Stored> => {
  const found = await seen(resolved, caller, named)
  if (!found) throw new NotFound('logo')
  return found
}

/** One that the caller may change. */
export const changeable = async (resolved: Resolved, caller: Caller, named: Named): Promise<Logo & Stored> => {
  const found = await existing(resolved, caller, named)
  await resolved.access.mustChange(caller, found.path)
  return found
}
