import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { Label, Radio, RadioGroup } from 'react-aria-components/RadioGroup'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { regainFocus } from '../lib/regain-focus.ts'
import { refreshSession, type Session } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'
import { FieldRefusal } from './controls.tsx'
import { FormError, SubmitButton } from './form-parts.tsx'
import { toast } from './toasts.tsx'

/** Whether the server is public or private, in plain words. No option is preselected. */
export const ReadAccessChoice = ({
  isPrivate,
  onChange,
}: {
  readonly isPrivate: boolean | undefined
  readonly onChange: (isPrivate: boolean) => void
}) => (
  <RadioGroup
    className="access-choice"
    value={isPrivate === undefined ? null : isPrivate ? 'private' : 'public'}
    onChange={value => onChange(value === 'private')}
    isRequired
  >
    <Label>{t('readAccess.question')}</Label>
    <Radio value="public" className="access-option">
      <b>{t('readAccess.public')}</b>
      <span>{t('readAccess.publicText')}</span>
    </Radio>
    <Radio value="private" className="access-option">
      <b>{t('readAccess.private')}</b>
      <span>{t('readAccess.privateText')}</span>
    </Radio>
    <FieldRefusal missing={t('field.unchosen')} />
  </RadioGroup>
)

/** Who can read, with a button to change it for users who may. */
export const ReadAccess = ({ session: { user, capabilities } }: { readonly session: Session }) => {
  const { private: isPrivate, accessOrigin } = capabilities
  if (user?.status !== 'Admin' || accessOrigin === 'configuration')
    return (
      <>
        <AccessInForce capabilities={capabilities} />
        {accessOrigin === 'configuration' && <p className="faded">{t('readAccess.configured', { setting: 'access.private' })}</p>}
      </>
    )
  return (
    <>
      {accessOrigin === 'pending' ? <p>{t('readAccess.pending')}</p> : <AccessInForce capabilities={capabilities} />}
      <ChangeForm key={String(isPrivate)} isPrivate={accessOrigin === 'pending' ? undefined : isPrivate} />
    </>
  )
}

/** In the first run it was chosen a moment ago: one sentence, and a way to change it. */
export const ChosenReadAccess = ({ session }: { readonly session: Session }) => {
  const { user, capabilities } = session
  if (user?.status !== 'Admin' || capabilities.accessOrigin !== 'admin') return <ReadAccess session={session} />
  return (
    <>
      <AccessInForce capabilities={capabilities} />
      <div className="actions">
        <Link to="/admin/access" className="button">
          {t('readAccess.change')}
        </Link>
      </div>
    </>
  )
}

const AccessInForce = ({ capabilities }: { readonly capabilities: Session['capabilities'] }) => (
  <p>
    <b>{capabilities.private ? t('readAccess.isPrivate') : t('readAccess.isPublic')}</b>{' '}
    {capabilities.private ? t('readAccess.privateText') : t('readAccess.publicText')}{' '}
    {!capabilities.private && !capabilities.anonymousDownload && t('readAccess.downloadText')}
  </p>
)

const ChangeForm = ({ isPrivate }: { readonly isPrivate: boolean | undefined }) => {
  const [chosen, choose] = useState(isPrivate)
  const { isBusy, error, run } = useAct()
  const save = async (): Promise<void> => {
    const answer = await api('PUT /api/admin/access', { body: { private: chosen === true } })
    await refreshSession()
    toast(answer.private ? t('readAccess.isPrivate') : t('readAccess.isPublic'))
    regainFocus(() => document.querySelector<HTMLElement>('.access-choice input:checked'))
  }
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        void run(save)
      }}
    >
      <ReadAccessChoice isPrivate={chosen} onChange={choose} />
      <FormError text={error} />
      {chosen !== isPrivate && <SubmitButton isBusy={isBusy}>{t('save')}</SubmitButton>}
    </Form>
  )
}
