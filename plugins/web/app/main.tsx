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
import i18next from 'i18next'
import { StrictMode, useSyncExternalStore } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { createRoot } from 'react-dom/client'
import { currentLanguage, startLanguage } from './lib/i18n.ts'
import { startLive } from './lib/live.ts'
import { queries } from './lib/queries.ts'
import { personChanges } from './lib/session.ts'
import { useStore } from './lib/store.ts'
import { router } from './router.tsx'

const subscribe = (listener: () => void): (() => void) => {
  i18next.on('languageChanged', listener)
  return () => i18next.off('languageChanged', listener)
}

const App = () => {
  const language = useSyncExternalStore(subscribe, () => i18next.language)
  const person = useStore(personChanges)
  return (
    <StrictMode>
      <QueryClientProvider client={queries}>
        <I18nProvider locale={currentLanguage()}>
          <RouterProvider key={`${language} ${person}`} router={router} />
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
