// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Sends messages without numbers, as CCTP's transmitter does. Only logs show sent messages. Receives each message
/// once.
contract MessageLog {
    mapping(bytes32 digest => bool) public isReceived;

    event MessageSent(bytes message);
    event MessageReceived(bytes32 indexed digest, address indexed by);

    function send(bytes[] calldata messages) external {
        for (uint256 index = 0; index < messages.length; index++) emit MessageSent(messages[index]);
    }

    /// Ignores the first two arguments, place and contract of the log. The relayer proves them before it signs.
    function receiveMessage(uint64, address, bytes calldata message) external {
        bytes32 digest = keccak256(message);
        require(!isReceived[digest], "already received");
        isReceived[digest] = true;
        emit MessageReceived(digest, msg.sender);
    }
}
