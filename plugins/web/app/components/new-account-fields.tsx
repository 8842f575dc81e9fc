import type { ReactNode } from 'react'
import { t } from '../lib/i18n.ts'
import { TextField } from './controls.tsx'

export interface NewAccount {
  readonly firstName: string
  readonly lastName: string
  readonly password: string
}

/** The values as sent: names are trimmed. */
export const trimmed = ({ firstName, lastName, password }: NewAccount): NewAccount => ({
  firstName: firstName.trim(),
  lastName: lastName.trim(),
  password,
})

/** Name and password of a new account. */
export const NewAccountFields = ({
  account,
  onChange,
  children,
}: {
  readonly account: NewAccount
  readonly onChange: (account: NewAccount) => void
  /** Between the name and the password. */
  readonly children?: ReactNode
}) => (
  <>
    <TextField
      label={t('firstName')}
      autoComplete="given-name"
      value={account.firstName}
      onChange={firstName => onChange({ ...account, firstName })}
      maxLength={200}
      isRequired
    />
    <TextField
      label={t('lastName')}
      autoComplete="family-name"
      value={account.lastName}
      onChange={lastName => onChange({ ...account, lastName })}
      maxLength={200}
      isRequired
    />
    {children}
    <NewPassword value={account.password} onChange={password => onChange({ ...account, password })} />
  </>
)

export const NewPassword = ({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) => (
  <TextField
    label={t('newPassword')}
    help={t('newPasswordHelp')}
    type="password"
    autoComplete="new-password"
    value={value}
    onChange={onChange}
    minLength={8}
    maxLength={1000}
    isRequired
  />
)
