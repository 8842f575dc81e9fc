import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly pattern?: string }
}
interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: object
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

test('a malformed id gets the same 404 as an unknown one', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const { paths, components } = (await (await call('/openapi.json')).json()) as Document
  const operations = Object.entries(paths).flatMap(([path, all]) =>
    Object.entries(all)
      .filter(([method]) => methods.includes(method))
      .map(([method, { parameters = [], requestBody }]) => ({
        ...{ path, method, hasBody: requestBody !== undefined },
        ids: parameters
          .map(one => ('$ref' in one ? (components.parameters[one.$ref.split('/').at(-1) ?? ''] as Parameter) : one))
          .filter(one => one.in === 'path' && one.schema.pattern?.includes('{24}')),
      })),
  )
  // With more than one id it depends on the others which of them is reported.
  const withOne = operations.filter(({ ids }) => ids.length === 1)
  t.true(withOne.length > 200, `${withOne.length} operations`)
  const different: string[] = []
  for (const { path, method, hasBody } of withOne) {
    const answerTo = async (id: string) => {
      const init = { method: method.toUpperCase(), ...(hasBody ? { json: {} } : {}) }
      const answer = await call(path.replace(/\{\w+\}/, id), init)
      return { status: answer.status, message: ((await answer.json().catch(() => ({}))) as { message?: string }).message }
    }
    const [unknown, malformed] = [await answerTo('f'.repeat(24)), await answerTo('malformed')]
    if (unknown.status === 404 && malformed.message !== unknown.message)
      different.push(`${method} ${path}: ${unknown.message}; malformed: ${malformed.message}`)
  }
  t.deepEqual(different, [])
})
