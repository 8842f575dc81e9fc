import './styles/tokens.css'
import './styles/base.css'
import './styles/components.css'
// One style sheet with the first page, instead of one or two with each.
import './styles/dataset.css'
import './styles/entry.css'
import './styles/file.css'
import './styles/part.css'
import './styles/plugins.css'
import './styles/resource-list.css'
import './styles/search.css'
import './styles/selection-bar.css'
import './styles/uploads.css'
import './styles/views.css'
import './styles/virtual-grid.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { createRoot } from 'react-dom/client'
import { startLanguage } from './lib/i18n.ts'
import { startLive } from './lib/live.ts'
import { queries } from './lib/queries.ts'
import { personChanges } from './lib/session.ts'
import { useStore } from './lib/store.ts'
import { useLanguage } from './lib/use-language.ts'
import { router } from './router.tsx'

const App = () => {
  const person = useStore(personChanges)
  return (
    <StrictMode>
      <QueryClientProvider client={queries}>
        <I18nProvider locale={useLanguage()}>
          <RouterProvider key={person} router={router} />
        </I18nProvider>
      </QueryClientProvider>
    </StrictMode>
  )
}

/** A file that is dropped where no page takes it: the browser would show it instead of the page. */
const refuseDrop = (event: DragEvent): void => {
  const { dataTransfer, target, defaultPrevented } = event
  const isTaken = defaultPrevented || (target instanceof Element && target.matches('input[type=file]'))
  if (isTaken || !dataTransfer?.types.includes('Files')) return
  event.preventDefault()
  dataTransfer.dropEffect = 'none'
}
window.addEventListener('dragover', refuseDrop)
window.addEventListener('drop', refuseDrop)

await startLanguage()
const root = document.getElementById('app')
if (root) createRoot(root).render(<App />)
startLive()
