import { useState } from 'react'
import { api, base } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { useAct } from '../lib/use-act.ts'
import { Button } from './controls.tsx'
import { copyText } from './copy-text.tsx'
import { FormError } from './form-parts.tsx'

const address = `${location.origin}${base}`

const Copied = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <>
    <pre className="recovery-codes mono">{text}</pre>
    <div className="actions">
      <Button icon="copy" aria-label={label} onPress={() => void copyText(text, t('copied'))}>
        {t('copy')}
      </Button>
    </div>
  </>
)

/** How to continue on the command line: commands, and an API key, which is shown once. */
export const CommandLine = () => {
  const [key, setKey] = useState<string>()
  const { isBusy, error, run } = useAct()
  const create = async (): Promise<void> => {
    const name = `web ${new Date().toISOString()}`
    setKey((await api('POST /api/users/keys', { query: { name } })).key)
  }
  const commands = [`pounce login ${address}`, `pounce put ${t('commandLine.folder')} "${t('commandLine.dataset')}" --create`]
  return (
    <section className="stack">
      <h2 className="section-title">{t('commandLine.title')}</h2>
      <p>{t('commandLine.text')}</p>
      <Copied text={commands.join('\n')} label={t('commandLine.copyCommands')} />
      {key === undefined ? (
        <>
          <p>{t('commandLine.keyText')}</p>
          <div className="actions">
            <Button isPending={isBusy} onPress={() => void run(create)}>
              {t('commandLine.createKey')}
            </Button>
          </div>
        </>
      ) : (
        <>
          <p>{t('commandLine.keyOnce')}</p>
          <Copied text={key} label={t('commandLine.copyKey')} />
        </>
      )}
      <FormError text={error} />
    </section>
  )
}
