import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { late } from './components/late.tsx'
import { Failure, FailurePage } from './components/page-parts.tsx'
import { Shell } from './components/shell.tsx'
import { ApiError, base } from './lib/api.ts'
import { useLanguage } from './lib/use-language.ts'

const NoPage = () => {
  useLanguage()
  return <FailurePage error={new ApiError(404, {})} retry={() => undefined} />
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NoPage,
  errorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
})

/** The query parameters as strings by name. Pages read and write their own. */
const searchText = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  )

const reloadPage = (): void => location.reload()

const page = <const P extends string>(path: P, load: () => Promise<Record<string, unknown>>, name: string) => {
  const Content = late(async () => (await load())[name] as ComponentType)
  const Page = () => {
    useLanguage()
    return <Content failure={error => <FailurePage error={error} retry={reloadPage} />} />
  }
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: searchText,
    component: Object.assign(Page, { preload: Content.preload }),
  })
}

const explore = () => import('./pages/explore.tsx')
const collection = () => import('./pages/collection.tsx')
const signUp = () => import('./pages/sign-up.tsx')
const reset = () => import('./pages/reset.tsx')

const routeTree = root.addChildren([
  page('/', () => import('./pages/home.tsx'), 'HomePage'),
  page('/explore', explore, 'ExplorePage'),
  page('/datasets', explore, 'DatasetsPage'),
  page('/collections', explore, 'CollectionsPage'),
  page('/spaces', explore, 'SpacesPage'),
  page('/spaces/$id', () => import('./pages/space.tsx'), 'SpacePage'),
  page('/collection/$id', collection, 'CollectionPage'),
  page('/collections/$id', collection, 'CollectionPage'),
  page('/datasets/$id', () => import('./pages/dataset.tsx'), 'DatasetPage'),
  page('/files/$id', () => import('./pages/file.tsx'), 'FilePage'),
  page('/parts/$id', () => import('./pages/part.tsx'), 'PartPage'),
  page('/compare', () => import('./pages/compare.tsx'), 'ComparePage'),
  page('/search', () => import('./pages/search.tsx'), 'SearchPage'),
  page('/login', () => import('./pages/sign-in.tsx'), 'SignInPage'),
  page('/login/link', () => import('./pages/link-identity.tsx'), 'LinkIdentityPage'),
  page('/signup', signUp, 'SignUpPage'),
  page('/signup/$token', signUp, 'SignUpPage'),
  page('/reset', reset, 'ResetPage'),
  page('/reset/$token', reset, 'ResetPage'),
  page('/welcome', () => import('./pages/welcome.tsx'), 'WelcomePage'),
  page('/admin/access', () => import('./pages/read-access.tsx'), 'ReadAccessPage'),
  page('/admin/plugins', () => import('./pages/plugins.tsx'), 'PluginsPage'),
  page('/accessibility', () => import('./pages/accessibility.tsx'), 'AccessibilityPage'),
])

/** URLs are those of Clowder 1 where it had the page. */
export const router = createRouter({
  routeTree,
  basepath: base === '' ? '/' : base,
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Plain text, not JSON: `?query=1` is what people type and old links contain.
  parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: search => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
