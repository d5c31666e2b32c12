interface SelectProps {
  readonly name: string
  readonly of: readonly (string | { readonly value: string; readonly label: string })[]
  readonly chosen: string | undefined
  readonly onChoose: (value: string | undefined) => void
}

export function Select({ name, of, chosen, onChoose }: SelectProps) {
  const choices = of.map((one) => (typeof one === 'string' ? { value: one, label: one } : one))
  const isOffered = chosen === undefined || choices.some(({ value }) => value === chosen)
  return (
    <label class="narrow-to">
      {name}
      <select value={chosen ?? ''} onChange={({ currentTarget }) => onChoose(currentTarget.value || undefined)}>
        <option value="">any</option>
        {[...choices, ...(isOffered ? [] : [{ value: chosen, label: chosen }])].map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ChoicesProps<Value> {
  readonly name: string
  readonly legend: string
  readonly choices: readonly { readonly value: Value; readonly label: string }[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
}

export function Choices<Value extends string | number>({ name, legend, choices, chosen, onChoose }: ChoicesProps<Value>) {
  return (
    <fieldset class="choice">
      <legend class="quiet">{legend}</legend>
      {choices.map(({ value, label }) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose(value)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}
