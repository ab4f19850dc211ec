<?php
namespace App\Store;

use App\Base;

const LIMIT = 3;

/**
 * Keeps users.
 */
final class Users extends Base implements Countable
{
    private const SIZE = 1;

    public function __construct(private int $size) {}

    /** Finds a user. */
    public static function find(string $name): ?User
    {
        return null;
    }
}

interface Named { public function name(): string; }
trait Logs { function log() {} }
enum Mode: string { case On = 'on'; }
function helper(array $all = []): void {}
