import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
} from 'react-aria-components/TextField'
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip'
import { t } from '../lib/i18n.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'

/** `filled`: the primary action of a page. `destroys`: cannot be undone. `quiet`: without a border. */
export type ButtonLook = 'plain' | 'filled' | 'destroys' | 'quiet'

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  readonly look?: ButtonLook
  readonly icon?: IconName
  readonly children?: ReactNode
}

const classOf = (look: ButtonLook, isIconOnly = false): string =>
  ['button', look === 'plain' ? '' : look, isIconOnly ? 'icon' : ''].filter(Boolean).join(' ')

/** The field that loses the focus may show a message, which would move the button before the pointer is released. */
const keepFocus = (event: MouseEvent): void => event.preventDefault()

export const Button = ({ look = 'plain', icon, children, ...rest }: ButtonProps) => (
  <AriaButton {...rest} {...(rest.type === 'submit' ? { onMouseDown: keepFocus } : {})} className={classOf(look)}>
    {icon && <Icon name={icon} />}
    {children}
  </AriaButton>
)

/** An icon-only button; its label is read out and shown as a tooltip. */
export const IconButton = ({
  icon,
  label,
  look = 'quiet',
  ...rest
}: Omit<ButtonProps, 'children' | 'icon'> & { readonly icon: IconName; readonly label: string }) => (
  <TooltipTrigger delay={500}>
    <AriaButton {...rest} aria-label={label} className={classOf(look, true)}>
      <Icon name={icon} />
    </AriaButton>
    <Tooltip className="tooltip">{label}</Tooltip>
  </TooltipTrigger>
)

interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children' | 'isInvalid' | 'validate'> {
  readonly label: string
  readonly help?: string
  /** The server's message about the value. */
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly isLong?: boolean
}

/** A field of a form, with its label, help and error. */
export const TextField = ({ label, help, error, placeholder, isLong = false, ...rest }: TextFieldProps) => {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  useEffect(() => {
    if (error !== undefined) field.current?.focus()
  }, [error])
  const inner = { ref: field, className: 'input', ...(placeholder === undefined ? {} : { placeholder }) }
  return (
    <AriaTextField
      {...rest}
      {...(error === undefined ? {} : { isInvalid: true })}
      validate={value => (rest.isRequired && isBlank(value) && rest.type !== 'password' ? t('field.missing') : null)}
      // Browsers do not submit a form with an invalid field, and what was rejected may be accepted the next time.
      validationBehavior={error === undefined ? 'native' : 'aria'}
      className="field"
    >
      <Label>{label}</Label>
      {isLong ? <TextArea {...inner} /> : <Input {...inner} />}
      {help !== undefined && (
        <Text slot="description" className="help">
          {help}
        </Text>
      )}
      <FieldRefusal error={error} minLength={rest.minLength} />
    </AriaTextField>
  )
}

const isBlank = (text: string): boolean => text !== '' && text.trim() === ''

/** The error of a field: announced, since the focus may already be in the field. */
export const FieldRefusal = ({
  error,
  missing = t('field.missing'),
  minLength = 0,
}: {
  readonly error?: string | undefined
  readonly missing?: string
  readonly minLength?: number | undefined
}) => (
  <FieldError className="error-text">
    {({ validationDetails: { valueMissing, typeMismatch, tooShort }, validationErrors }) => (
      <span role="alert">
        {error ??
          (valueMissing
            ? missing
            : typeMismatch
              ? t('field.notAnEmail')
              : tooShort
                ? t('field.tooShort', { count: minLength })
                : validationErrors.join(' '))}
      </span>
    )}
  </FieldError>
)
