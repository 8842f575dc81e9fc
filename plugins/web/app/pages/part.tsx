import { useParams } from '@tanstack/react-router'
import { FailurePage, Loading, PageTitle } from '../components/page-parts.tsx'
import { Part } from '../components/part.tsx'
import { ApiError } from '../lib/api.ts'
import { useContributions } from '../lib/contributions.ts'
import { useAddressState } from '../lib/requested-parts.ts'
import type { ViewedThing } from '../viewers/host.ts'

/** A page contributed by a plugin. */
export const PartPage = () => {
  const { id } = useParams({ strict: false }) as { readonly id: string }
  const all = useContributions()
  const state = useAddressState()
  const contribution = all?.find(one => one.id === id && (one.kind === 'page' || one.kind === 'admin'))
  if (!all) return <Loading />
  if (!contribution) return <FailurePage error={new ApiError(404, {})} retry={() => undefined} />
  const { title } = contribution
  const thing: ViewedThing = { kind: 'page', id, name: title, contentType: '', sizeBytes: 0, rights: [] }
  return (
    <div className="part-page">
      <PageTitle name={title} />
      <Part key={id} contribution={contribution} thing={thing} url="" state={state} />
    </div>
  )
}
