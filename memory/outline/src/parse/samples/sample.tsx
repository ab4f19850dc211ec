import React from 'react';

interface Props { name: string }

export const Card = ({ name }: Props) => <div>{name}</div>;

export default function App(): JSX.Element {
  return <Card name="x" />;
}
