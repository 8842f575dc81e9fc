import test from 'ava'
import fc from 'fast-check'
import type { Caller, Kind, Permission, Ref, Stored } from 'pounce/sdk'
import type { SearchScope } from 'pounce/sdk/search'
import { matcher } from 'pounce/sdk/store-kit'
import { usualOrFull } from 'pounce/sdk/testing'
import { idOf, policyOn, sourcesOf } from './testing-fixtures/cast.ts'
import { NaivePolicy, type NaiveWorld } from './testing-fixtures/naive-policy.ts'
import { anyCaller, anyMode, anyWorld, somePermissions } from './testing-fixtures/random-worlds.ts'

const refOf = (key: string): Ref => {
  const [kind = '', name = ''] = key.split(':')
  return { kind: kind as Kind, id: idOf(name) }
}
const refsOf = (world: NaiveWorld): readonly Ref[] => [...Object.keys(world), 'dataset:gone', 'file:gone'].map(refOf)
const anyPermission = fc.constantFrom(...somePermissions)

test('decisions follow the rules of the reference, for one resource and for a list', async t => {
  const property = fc.asyncProperty(anyWorld, anyCaller, anyMode, anyPermission, async (world, caller, mode, permission) => {
    const policy = policyOn(sourcesOf(world), mode)
    const naive = new NaivePolicy(world, mode)
    for (const ref of refsOf(world)) {
      const expected = naive.decide(caller, permission, ref)
      const given = await policy.canOn(caller, permission, ref)
      if (given !== expected) throw new Error(`${permission} on ${ref.kind} ${ref.id} is ${given}, not ${expected}`)
      const allowed = await policy.allowed(caller, permission, ref.kind, [idOf('gone'), ref.id])
      if (allowed.has(ref.id) !== (expected === 'yes')) throw new Error(`${permission} on ${ref.kind} differs for many`)
      const explained = await policy.explain(caller, permission, ref)
      if (explained.verdict !== expected || explained.because.length === 0)
        throw new Error(`${permission} on ${ref.kind} is explained wrongly`)
    }
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: usualOrFull(400, 1500) }))
})

interface Listed {
  readonly ref: Ref
  readonly record: Stored & { readonly author: string; readonly spaces: readonly string[]; readonly isPublic: boolean }
}
const liveTops = (world: NaiveWorld): readonly Listed[] =>
  Object.entries(world).flatMap(([key, { author, spaces, isPublic, state }]) => {
    const ref = refOf(key)
    const isListed = state === 'live' && ['dataset', 'collection', 'space'].includes(ref.kind)
    return isListed ? [{ ref, record: { id: ref.id, revision: 1, author, spaces, isPublic } }] : []
  })

test('a list shows exactly the live resources for which the caller has the permission', async t => {
  const property = fc.property(anyWorld, anyCaller, anyMode, anyPermission, (world, caller, mode, permission) => {
    const where = policyOn(sourcesOf(world), mode).visibleTo(caller, permission)
    const naive = new NaivePolicy(world, mode)
    return liveTops(world).every(({ ref, record }) => {
      const isListed = where === 'all' || (where !== 'nothing' && matcher(where)(record))
      return isListed === (naive.decide(caller, permission, ref) === 'yes')
    })
  })
  await t.notThrowsAsync(async () => fc.assert(property, { numRuns: usualOrFull(800, 3000) }))
})

const viewing = { dataset: 'ViewDataset', collection: 'ViewCollection' } as const satisfies Partial<Record<Kind, Permission>>
const isInScope = (scope: SearchScope, { ref, record }: Listed): boolean => {
  if (scope.all) return true
  const isIn = (some: readonly string[]): boolean => record.spaces.some(space => some.includes(space))
  const isPart = (scope.inPart ?? []).some(part => part.kinds.includes(ref.kind) && isIn(part.spaces))
  const isSeen = isIn(scope.spaces) || isPart || scope.author === record.author || (scope.includePublic && record.isPublic)
  return isSeen && (scope.within === undefined || isIn(scope.within))
}

test('a search covers exactly the live resources for whose kind the caller has the view permission', async t => {
  const property = fc.property(anyWorld, anyCaller, anyMode, (world, caller: Caller, mode) => {
    const scope = policyOn(sourcesOf(world), mode).searchScope(caller)
    const naive = new NaivePolicy(world, mode)
    return liveTops(world)
      .filter(({ ref }) => ref.kind in viewing)
      .every(listed => {
        const permission = viewing[listed.ref.kind as keyof typeof viewing]
        return isInScope(scope, listed) === (naive.decide(caller, permission, listed.ref) === 'yes')
      })
  })
  await t.notThrowsAsync(async () => fc.assert(property, { numRuns: usualOrFull(800, 3000) }))
})

const annotations = { metadata: 'ViewMetadata', comments: 'ViewComments', sections: 'ViewSection' } as const

test('a search for metadata, comments or sections covers exactly the resources of the search on which the caller has that right', async t => {
  const withheld: Record<string, number> = {}
  const property = fc.property(anyWorld, anyCaller, anyMode, (world, caller: Caller, mode) => {
    const scope = policyOn(sourcesOf(world), mode).searchScope(caller)
    if (scope.all) return true
    const naive = new NaivePolicy(world, mode)
    const listed = liveTops(world).filter(each => each.ref.kind in viewing && isInScope(scope, each))
    return Object.entries(annotations).every(([name, permission]) => {
      const spaces = scope.annotated?.[name as keyof typeof annotations]
      if (!spaces) return listed.every(each => naive.decide(caller, permission, each.ref) === 'yes')
      const { inPart: _, ...rest } = scope
      return listed.every(each => {
        const isCovered = isInScope({ ...rest, spaces }, each)
        withheld[name] = (withheld[name] ?? 0) + Number(!isCovered)
        return isCovered === (naive.decide(caller, permission, each.ref) === 'yes')
      })
    })
  })
  await t.notThrowsAsync(async () => fc.assert(property, { numRuns: usualOrFull(800, 3000) }))
  t.deepEqual(Object.keys(withheld).sort(), ['comments', 'metadata', 'sections'])
})
