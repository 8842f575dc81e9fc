import test from 'ava'
import { Clock, collection, routesFor, wire } from 'pounce/sdk'

class Needy {
  readonly one: unknown

  constructor(one: unknown) {
    this.one = one
  }
}

test('a dependency that is neither a port nor a class is refused', t => {
  const needed: unknown = new Needy(1)
  t.throws(() => wire(Needy, needed as never), {
    message: 'wire(Needy): dependency 1 is neither a port nor a class, such as DocumentStore',
  })
  t.throws(() => routesFor('some', { clock: Clock, needed: needed as typeof Clock }), {
    message: "routesFor('some'): the dependency needed is neither a port nor a class, such as DocumentStore",
  })
})

test('an index without a list of fields is refused', t => {
  for (const index of [{ on: 'author' }, { by: ['author'] }, { on: [] }, { on: [1] }, null])
    t.throws(() => collection<{ readonly author: string }>()('acme.notes', { byAuthor: index as never }), {
      message: "collection 'acme.notes': the index byAuthor must have a list of fields: { on: ['author', 'created'] }",
    })
})
