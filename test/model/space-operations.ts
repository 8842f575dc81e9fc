import { type Person, people, roles, type Space } from './model-rights.ts'
import { actorOf, attempt, idIn, newName, pick, refused, type Step, takingOut, type World } from './model-world.ts'

const makeSpace = async (world: World, step: Step): Promise<void> => {
  const who = actorOf(step)
  const name = newName(world)
  const made = await attempt(world, who, { method: 'POST', path: '/api/spaces', json: { name, description: '' } }, ['signedIn'])
  if (!made) return
  const space: Space = { kind: 'space', id: await idIn(made), author: who, name, isGone: false, access: 'TRIAL', members: new Map() }
  space.members.set(who, 'Admin')
  world.state.spaces.push(space)
}

const deleteSpace = async (world: World, step: Step): Promise<void> => {
  const space = pick(world.state.spaces, step.a)
  if (!space) return
  const path = `/api/spaces/${space.id}`
  if (await attempt(world, actorOf(step, space), { method: 'DELETE', path }, [['DeleteSpace', space]])) world.state.removeSpace(space)
}

/** True for the last member who can edit a space, who cannot be removed or demoted. */
const isLastAdmin = (space: Space, person: Person): boolean =>
  space.members.get(person) === 'Admin' && [...space.members].every(([name, role]) => name === person || role !== 'Admin')

const share = async (world: World, step: Step): Promise<void> => {
  const space = pick(world.state.spaces, step.a)
  const role = roles[step.b % roles.length]
  const person = people[step.c % 3]
  if (!space || role === undefined || person === undefined) return
  const holders = new Set([...space.members].filter(([, held]) => held === role).map(([name]) => name)).add(person)
  const json = { rolesandusers: { [role]: [...holders].map(name => world.ids[name]).join(',') } }
  const path = `/api/spaces/${space.id}/updateUsers`
  const rule = () => (role !== 'Admin' && isLastAdmin(space, person) ? 409 : undefined)
  if (await attempt(world, actorOf(step, space), { method: 'POST', path, json }, [['EditSpace', space]], rule))
    space.members.set(person, role)
}

const unshare = async (world: World, step: Step): Promise<void> => {
  const space = pick(world.state.spaces, step.a)
  const person = people[step.c % 3]
  if (!space || person === undefined) return
  const path = `/api/spaces/${space.id}/removeUser?removeUser=${world.ids[person]}`
  const rule = () => (!space.members.has(person) ? 400 : isLastAdmin(space, person) ? 409 : undefined)
  if (await attempt(world, actorOf(step, space), { method: 'POST', path }, [['EditSpace', space]], rule)) space.members.delete(person)
}

const verify = async (world: World, step: Step): Promise<void> => {
  const space = pick(world.state.spaces, step.a)
  if (!space) return
  const { status } = await world.admin(`/api/spaces/${space.id}/verify`, { method: 'PUT' })
  world.story.push(`admin PUT /api/spaces/${space.id}/verify → ${status}`)
  const expected = space.isGone ? 404 : space.access === 'TRIAL' ? 200 : 400
  if (status !== expected) throw new Error(`expected ${expected}, had ${status}`)
  if (status === 200) space.access = 'PRIVATE'
}

const openOrClose = async (world: World, step: Step): Promise<void> => {
  const space = pick(world.state.spaces, step.a)
  if (!space) return
  const access = step.b % 2 === 0 ? 'PUBLIC' : 'PRIVATE'
  const name = newName(world)
  const json = { name, description: '', timetolive: '24', enabled: false, access }
  const path = `/api/spaces/${space.id}/update`
  if (!(await attempt(world, actorOf(step, space), { method: 'POST', path, json }, [['EditSpace', space]]))) return
  space.name = name
  if (space.access !== 'TRIAL') space.access = access
}

const addDataset = async (world: World, step: Step): Promise<void> => {
  const [space, dataset] = [pick(world.state.spaces, step.a), pick(world.state.datasets, step.b)]
  if (!space || !dataset) return
  const who = actorOf(step, dataset)
  const checks = [
    ['AddResourceToSpace', space],
    ['ViewDataset', dataset],
  ] as const
  const rule = () => (dataset.author !== who ? 403 : dataset.isTrashed && !dataset.spaces.has(space) ? 409 : undefined)
  const path = `/api/spaces/${space.id}/addDatasetToSpace/${dataset.id}`
  if (await attempt(world, who, { method: 'POST', path }, checks, rule)) dataset.spaces.add(space)
}

const removeDataset = async (world: World, step: Step): Promise<void> => {
  const [space, dataset] = [pick(world.state.spaces, step.a), pick(world.state.datasets, step.b)]
  if (!space || !dataset) return
  const who = actorOf(step, dataset)
  const checks = ['signedIn', ['ViewSpace', space], ['ViewDataset', dataset]] as const
  const rule = () => takingOut(world, who, 'RemoveResourceFromSpace', space, dataset) ?? (dataset.spaces.has(space) ? undefined : 404)
  const path = `/api/spaces/${space.id}/removeDataset/${dataset.id}`
  if (await attempt(world, who, { method: 'POST', path }, checks, rule)) dataset.spaces.delete(space)
}

const addCollection = async (world: World, step: Step): Promise<void> => {
  const [space, one] = [pick(world.state.spaces, step.a), pick(world.state.collections, step.b)]
  if (!space || !one) return
  const who = actorOf(step, one)
  const checks = [
    ['AddResourceToSpace', space],
    ['ViewCollection', one],
  ] as const
  const path = `/api/spaces/${space.id}/addCollectionToSpace/${one.id}`
  const done = await attempt(world, who, { method: 'POST', path }, checks, () => (one.author === who ? undefined : 403))
  if (done) world.state.enterSpace(one, space, true)
}

const removeCollection = async (world: World, step: Step): Promise<void> => {
  const [space, one] = [pick(world.state.spaces, step.a), pick(world.state.collections, step.b)]
  if (!space || !one) return
  const who = actorOf(step, one)
  const withDatasets = step.c % 2 === 0
  const rule = () => {
    if (!one.spaces.has(space)) return 404
    const may = withDatasets
      ? refused(world, who, 'RemoveResourceFromSpace', space)
      : takingOut(world, who, 'RemoveResourceFromSpace', space, one)
    const isThroughParent = [...one.parents].some(parent => !parent.isTrashed && parent.spaces.has(space))
    return may ?? (isThroughParent && !one.rootSpaces.has(space) ? 400 : undefined)
  }
  const checks = ['signedIn', ['ViewSpace', space], ['ViewCollection', one]] as const
  const path = `/api/spaces/${space.id}/removeCollection/${one.id}?removeDatasets=${withDatasets}`
  if (!(await attempt(world, who, { method: 'POST', path }, checks, rule))) return
  world.state.leaveSpace(one, space)
  if (!withDatasets) return
  for (const dataset of world.state.datasets) {
    const isHeld = [...dataset.collections].some(holder => holder.spaces.has(space))
    if (dataset.collections.has(one) && !isHeld) dataset.spaces.delete(space)
  }
}

/** Operations on spaces and their members and contents. */
export const spaceOperations = {
  makeSpace,
  deleteSpace,
  share,
  unshare,
  verify,
  openOrClose,
  addDataset,
  removeDataset,
  addCollection,
  removeCollection,
}
