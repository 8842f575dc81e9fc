import test from 'ava'
import { allPermissions } from 'pounce/sdk/kit'
import { callerNames, expectation, slotsOf, standingsOf } from './cells.ts'
import { needs, readNeeds } from './oracle/needs.ts'
import { roles } from './oracle/roles.ts'
import { wordNames } from './oracle/verdicts.ts'
import { requestContents } from './request-content.ts'
import { unfilled } from './requests.ts'
import { matrixPlugins, routesOf, suggestedNeeds } from './routes.ts'
import { thingKinds } from './things.ts'

const kinds: readonly string[] = thingKinds
const bys: readonly string[] = ['anybody', 'owner', 'author', 'live', 'reading']
const routes = await routesOf(await matrixPlugins())

test('every route is in the oracle', t => {
  const missing = routes.filter(({ name }) => needs[name] === undefined)
  t.deepEqual(
    missing.map(route => `${route.name}: '${suggestedNeeds(route)}',`),
    [],
    'Add these lines to the appropriate test/access/oracle/needs-*.ts, with the permissions that the routes should require',
  )
})

test('the oracle contains no removed route', t => {
  const known = new Set(routes.map(({ name }) => name))
  t.deepEqual(
    [...Object.keys(needs), ...Object.keys(requestContents)].filter(name => !known.has(name)),
    [],
  )
})

test('the oracle only requires existing permissions on existing kinds', t => {
  const known = new Set<string>([...allPermissions, ...wordNames])
  const onThings = new Set<string>([...allPermissions, 'part', 'known', 'blind', 'begun'])
  const wrong = Object.entries(needs).flatMap(([route, text]) =>
    readNeeds(text)
      .flat()
      .filter(
        ({ right, kind, by }) =>
          !(kind === undefined ? known.has(right) : onThings.has(right) && kinds.includes(kind)) || !bys.includes(by),
      )
      .map(({ right, kind = '', by }) => `${route}: ${by} ${right} ${kind}`),
  )
  t.deepEqual(wrong, [])
})

test('every parameter of every route can be filled', t => {
  const holes = routes.flatMap(route => {
    const left = unfilled(
      route,
      slotsOf(route).map(({ parameter }) => parameter),
    )
    return left.length > 0 ? [`${route.name}: ${left.join(', ')}`] : []
  })
  t.deepEqual(holes, [], 'Specify in needs which resources they identify, or their values in sent.ts')
})

test('the oracle has an expectation for every cell', t => {
  const silent = new Set<string>()
  for (const mode of ['private', 'public', 'closed'] as const)
    for (const route of routes)
      for (const caller of callerNames)
        for (const at of standingsOf(slotsOf(route))) {
          const expected = expectation(mode, route, caller, at)
          if (typeof expected === 'string') silent.add(`${route.name}: ${expected}`)
        }
  t.deepEqual([...silent], [])
})

test('the roles of the oracle have as many permissions as those of the reference, except the two for archiving', t => {
  t.deepEqual(
    [roles.viewer, roles.editor, roles.admin].map(({ size }) => size),
    [13, 59 - 2, 67],
  )
  t.deepEqual([...roles.admin].sort(), [...allPermissions].sort())
})

test('the oracle requires every permission that a declaration checks', t => {
  const requested = (text: string): readonly string[] => text.split(/[;|]/).map(one => one.trim().replace(/^[a-z]+:/, ''))
  const weaker = routes.flatMap(route => {
    const answers = requested(needs[route.name] ?? '')
    const extra = requested(suggestedNeeds(route)).filter(each => kinds.some(kind => each.includes(` ${kind}=`)) && !answers.includes(each))
    return extra.length > 0 ? [`${route.name}: ${extra.join('; ')}`] : []
  })
  t.deepEqual(weaker, [])
})
