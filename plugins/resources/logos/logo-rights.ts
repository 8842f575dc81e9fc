import { authorize, type Caller, Forbidden, isServerAdmin, type Permission, Policy, type Ref, s, wire } from 'pounce/sdk'

/** What a logo's path stands for; undefined for one that stands for nothing. */
const ownerOf = (path: string): Ref | 'everybody' | undefined => {
  if (path === 'GLOBAL') return 'everybody'
  const [, kind, id] = /^(space|user)-(.+)$/.exec(path) ?? []
  if ((kind !== 'space' && kind !== 'user') || !s.isId(id)) return undefined
  return { kind, id }
}

const permissions: Readonly<Record<string, { readonly seeing: Permission; readonly changing: Permission }>> = {
  space: { seeing: 'ViewSpace', changing: 'EditSpace' },
  user: { seeing: 'ViewUser', changing: 'EditUser' },
}

/** A logo has the rights of what it stands for. */
export class LogoRights {
  #policy: Policy

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** Refuses those who may not change the logos of a path. */
  async mustChange(caller: Caller, path: string): Promise<void> {
    const owner = ownerOf(path)
    if (owner === undefined) throw new Forbidden('The path of a logo must be GLOBAL, space-<id> or user-<id>')
    if (owner !== 'everybody') return authorize(this.#policy, caller, permissions[owner.kind]?.changing ?? 'EditUser', owner)
    if (!isServerAdmin(caller)) throw new Forbidden('Only a server admin may change the logos of the installation')
  }

  /** Everyone sees the installation's own, those of a space or person who may see these. */
  async maySee(caller: Caller, path: string): Promise<boolean> {
    const owner = ownerOf(path)
    if (owner === undefined || owner === 'everybody') return owner !== undefined
    return (await this.#policy.canOn(caller, permissions[owner.kind]?.seeing ?? 'ViewUser', owner)) === 'yes'
  }
}
wire(LogoRights, Policy)
