<?php

/** $body: the raw bytes (file_get_contents('php://input')). $header: X-Webhook-Signature. */
function is_authentic(string $body, string $header, string $secret): bool
{
    $sentAt = '';
    $signatures = [];
    foreach (explode(',', $header) as $field) {
        [$name, $value] = explode('=', $field, 2) + ['', ''];
        if ($name === 't') {
            $sentAt = $value;
        } elseif ($name === 'v1') {
            $signatures[] = $value;
        }
    }
    if (!preg_match('/^\d{1,12}$/D', $sentAt) || abs(time() - (int) $sentAt) > 300) {
        return false;
    }
    $expected = hash_hmac('sha256', $sentAt . '.' . $body, $secret);
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
